"""Nobody answered in time: the agent is told so, and nothing was carried out."""

from __future__ import annotations

import pytest

from runs import history
from runs.progress import Progress
from runs.values import VerdictKind
from tests.flows.conftest import decide
from tests.support import acts
from tests.support.advance import park_of, provider, settle
from tests.support.replies import calls, check, text

pytestmark = pytest.mark.django_db

V = VerdictKind
SILENCE = "Nobody answered in time, so this was not carried out."
LETTER = calls(("post", {"what": "x"}))


def test_the_call_is_answered_and_the_run_completes(run, boss):
    with provider(LETTER, check(0.2)):
        parked = settle(run)

    decide(parked, boss, V.GO_ON, text="Say so in your report.")
    with provider(text("It was not sent.")) as model:
        done = settle(parked)

    (told,) = model.requests[0].tool_results
    assert told == f"{SILENCE} A person adds: Say so in your report."
    assert done.state == "completed"
    assert acts.acts() == []


def test_a_question_of_the_agent_is_answered_so_too(run, boss):
    with provider(calls(("ask_human", {"question": "Shall I?"}))):
        parked = settle(run)

    decide(parked, boss, V.GO_ON)
    with provider(text("Nobody knows.")) as model:
        settle(parked)

    assert model.requests[0].tool_results == [SILENCE]


def test_silence_is_no_look_at_what_the_agent_has_read(run, boss):
    """The next irreversible call asks for the same reason as the first."""
    with provider(calls(("browse", {"page": "p"})), LETTER):
        parked = settle(run)
    assert park_of(parked)["reason"] == "untrusted_content"

    decide(parked, boss, V.GO_ON)
    with provider(calls(("post", {"what": "y"}))):
        again = settle(parked)

    opened = history.opening(again)
    assert park_of(again)["reason"] == "untrusted_content"
    assert Progress.of(opened.messages, history.steps(again)).untrusted
