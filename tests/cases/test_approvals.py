"""Cases H: what a person decides is what runs."""

from __future__ import annotations

import json

import pytest

from runs import deciding
from runs.errors import BadInput, Stale
from runs.values import Verdict, VerdictKind
from tests.flows.conftest import decide
from tests.support.acts import acts
from tests.support.advance import provider, settle
from tests.support.replies import calls, check, text

pytestmark = pytest.mark.django_db

LETTER = calls(("post", {"what": "x"}))


def test_h02_whoever_decides_second_is_told_so(run, boss):
    with provider(LETTER, check(0.2), text("Done.")):
        run = settle(run)
        seen = run.sequence
        decide(run, boss, VerdictKind.REJECT, text="No.")
        with pytest.raises(Stale):
            deciding.resume(
                run.pk,
                Verdict(VerdictKind.APPROVE),
                by=boss,
                sequence=seen,
            )
        run = settle(run)

    assert (run.state, acts()) == ("completed", [])


def test_h04_between_approval_and_act_no_model_is_asked(run, boss):
    with provider(LETTER, check(0.2), text("Done.")) as model:
        run = settle(run)
        asked = len(model.requests)
        decide(run, boss, VerdictKind.APPROVE)
        run = settle(run)

    kinds = list(run.steps.values_list("kind", flat=True))
    assert kinds == ["model", "check", "decision", "tool", "model"]
    assert len(model.requests) == asked + 1
    assert [act["what"] for act in acts()] == ["x"]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({}, "arguments.what"),
        ({"what": 7}, "arguments.what"),
        ({"what": "y", "to": "z"}, "arguments.to"),
    ],
)
def test_h08_an_edit_that_does_not_fit_leaves_the_decision_open(
    run, boss, arguments, field
):
    with provider(LETTER, check(0.2)):
        run = settle(run)
        with pytest.raises(BadInput) as caught:
            decide(run, boss, VerdictKind.APPROVE, arguments=arguments)

    run.refresh_from_db()
    assert field in caught.value.fields
    assert (run.state, run.sequence) == ("awaiting_human", 2)


def test_h08_a_good_edit_runs_and_both_versions_are_kept(run, boss):
    with provider(LETTER, check(0.2), text("Done.")):
        run = settle(run)
        decide(run, boss, VerdictKind.APPROVE, arguments={"what": "y"})
        run = settle(run)

    said = run.steps.get(number=1).response["calls"][0]["arguments"]
    ran = run.steps.get(name="post", kind="tool").request
    assert json.loads(said) == {"what": "x"}
    assert (ran["arguments"], ran["edited"]) == ({"what": "y"}, True)
    assert [act["what"] for act in acts()] == ["y"]


def test_h08_what_a_person_says_is_stored_as_databases_can(run, boss):
    with provider(calls(("lost", {"what": "x"})), check(0.9), text("Done.")) as model:
        run = settle(run)
        decide(
            run,
            boss,
            VerdictKind.OUTCOME,
            happened=True,
            result={"a\x00": float("nan")},
        )
        run = settle(run)

    assert run.state == "completed"
    assert '{"a␀":null}' in model.requests[-1].tool_results[0]
