"""Tools that a person answers: the run parks and the decision is their result."""

from __future__ import annotations

from typing import Annotated, Never

from pydantic import Field

from runs.errors import Fatal
from runs.tools.base import Asks, Effect, tool

Question = Annotated[str, Field(min_length=1, max_length=4_000)]
Option = Annotated[str, Field(min_length=1, max_length=200)]


@tool(
    effect=Effect.READ,
    asks=Asks.QUESTION,
    describe=lambda arguments: f"Ask: {arguments['question']}",
)
def ask_human(
    question: Question,
    options: Annotated[list[Option], Field(max_length=20)] = [],  # noqa: B006
) -> Never:
    """Ask a person a question when only a person can know or decide.

    `options` are answers to choose from; leave them out for a free answer.
    """
    raise Fatal(f"A person answers this: {question} {options}")


@tool(
    effect=Effect.READ,
    asks=Asks.ESCALATION,
    describe=lambda arguments: f"Escalate: {arguments['reason']}",
)
def escalate(reason: Question) -> Never:
    """Hand the run over to a person because something is wrong or too risky.

    Say what you found, what you would do next, and why you do not do it yourself.
    """
    raise Fatal(f"A person looks into this: {reason}")
