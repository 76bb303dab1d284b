"""A tool whose own code is at fault parks its run, and nothing worse."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import AfterValidator

from runs import deciding
from runs.errors import BadInput, NotSent
from runs.models import Effect as Effects
from runs.services import start
from runs.tools import registry
from runs.tools.base import Effect, tool
from runs.values import VerdictKind
from tests.flows.conftest import decide
from tests.support.advance import advance, park_of, provider, settle
from tests.support.replies import calls, check, text

pytestmark = pytest.mark.django_db


def _at_fault(*given):
    raise KeyError("nothing under that name")


def _bad_value(value):
    return _at_fault(value)


def _not_reached(*given):
    raise NotSent("the other side is away")


def _says_nothing(arguments, context):
    return None


@tool(effect=Effect.READ, effect_of=_at_fault)
def bad_effect(what: str) -> str:
    """Have an effect that cannot be told."""
    return what


@tool(effect=Effect.READ, check=_at_fault)
def bad_check(what: str) -> str:
    """Have a check with a mistake."""
    return what


@tool(effect=Effect.READ, check=_not_reached)
def far_check(what: str) -> str:
    """Have a check that asks somebody else."""
    return what


@tool(effect=Effect.READ)
def bad_type(what: Annotated[str, AfterValidator(_bad_value)]) -> str:
    """Have an argument whose type has a mistake."""
    return what


def _no_text(arguments):
    return {"not": "text \ud800"}


def _speechless(arguments):
    raise RuntimeError("no words")


@tool(effect=Effect.READ, describe=_speechless)
def bad_words(what: str) -> str:
    """Have no words for what it does."""
    return what


@tool(effect=Effect.READ, describe=_no_text)
def odd_words(what: str) -> str:
    """Have words that are none."""
    return what


@tool(effect=Effect.IRREVERSIBLE, reconcile=_says_nothing)
def bad_reconcile(what: str) -> str:
    """Act, and find nothing out afterwards."""
    return what


def _only_x(arguments, settings):
    return {"x": True}[arguments["what"]]


@tool(effect=Effect.IRREVERSIBLE, check=_only_x)
def choosy(what: str) -> str:
    """Have a check that foresees one thing only."""
    return what


ALL = (
    bad_effect,
    bad_check,
    far_check,
    bad_type,
    bad_words,
    odd_words,
    bad_reconcile,
    choosy,
)


@pytest.fixture
def run(agent, boss):
    with registry.added(*ALL):
        agent.grants |= {spec.name: {"policy": "auto"} for spec in ALL}
        agent.grants["choosy"] = {"policy": "always"}
        agent.save()
        yield start(agent=agent, by=boss, task="Try the tools")


AT_FAULT = ["bad_effect", "bad_check", "far_check", "bad_type"]


@pytest.mark.parametrize("name", AT_FAULT)
def test_a_call_that_its_tool_cannot_judge_parks_with_the_tools_mistake(run, name):
    with provider(calls((name, {"what": "x"}))) as model:
        run = settle(run)

    park = park_of(run)
    assert (park["reason"], len(model.requests)) == ("fatal", 1)
    assert name in park["question"]


@pytest.mark.parametrize("name", AT_FAULT)
def test_a_person_may_guide_the_agent_past_it(run, boss, name):
    with provider(calls((name, {"what": "x"})), text("Done without.")):
        run = settle(run)
        decide(run, boss, VerdictKind.GUIDE, text="Do without it.")
        run = settle(run)

    assert (run.state, run.output) == ("completed", "Done without.")


def test_trying_again_does_not_ask_the_model_again(run, boss):
    with provider(calls(("bad_check", {"what": "x"}))) as model:
        run = settle(run)
        decide(run, boss, VerdictKind.RETRY)
        run = settle(run)

    assert (park_of(run)["reason"], len(model.requests)) == ("fatal", 1)


@pytest.mark.parametrize("name", ["bad_words", "odd_words"])
def test_a_call_runs_though_its_tool_finds_no_words_for_it(run, name):
    with provider(calls((name, {"what": "x"})), text("Done.")) as model:
        run = settle(run)

    assert (run.state, model.requests[1].tool_results) == ("completed", ["x"])


def test_an_answer_that_is_none_leaves_the_outcome_unknown(run):
    with provider(calls(("bad_reconcile", {"what": "x"})), check(0.9)):
        run = advance(run, steps=1)
        Effects.objects.all().delete()
        step = run.steps.get(kind="tool")
        step.status = "started"
        step.save()
        run = settle(run)

    assert park_of(run)["reason"] == "outcome_unknown"


def test_edited_arguments_that_its_tool_cannot_judge_are_refused(run, boss):
    with provider(calls(("choosy", {"what": "x"})), check(0.1)):
        run = settle(run)

    with pytest.raises(BadInput, match="choosy could not check its call: KeyError"):
        deciding.edited(run.pk, {"what": "y"})
