"""What single kinds of decisions do beyond the contract."""

from __future__ import annotations

from decimal import Decimal

import pytest

from agentops import clock
from reviews.decisions import registry
from reviews.decisions.top_up import amount, suggestion
from runs import budgets
from runs.errors import BadInput
from runs.models import Driver
from runs.states import ParkReason
from tests.support import factory

pytestmark = pytest.mark.django_db

MONEY_SPENT = {
    "budget": "money",
    "used": "$0.4900",
    "limit": "$0.5000",
    "needed": "$0.0200",
    "forecast": "$0.3100",
}


# Approve


def test_the_button_says_what_happens():
    review = factory.park()

    assert registry.find("approve").label(review) == "Approve and post"


def test_a_final_answer_is_accepted():
    review = factory.park(reason=ParkReason.ANSWER, has_call=False)

    assert registry.find("approve").label(review) == "Accept the answer"


def test_a_note_is_kept_as_it_was_written():
    cleaned = registry.find("approve").clean(factory.park(), {"note": "One\r\ntwo\x00"})

    assert cleaned == {"note": "One\ntwo␀"}


# Answer


def asking(options):
    run = factory.make_run()
    call = factory.make_call(run, {"question": "Which?", "options": options})
    return factory.park(run, ParkReason.QUESTION, call=call)


def test_an_offered_answer_can_be_chosen():
    answer = registry.find("answer")

    assert answer.clean(asking(["A", "B"]), {"choice": "B"}) == {"text": "B"}


def test_own_words_beat_the_offered_answers():
    entered = {"choice": "B", "text": "Neither"}

    assert registry.find("answer").clean(asking(["A", "B"]), entered) == {
        "text": "Neither"
    }


def test_an_answer_nobody_offered_is_refused():
    with pytest.raises(BadInput):
        registry.find("answer").clean(asking(["A", "B"]), {"choice": "C"})


def test_without_options_the_words_are_needed():
    with pytest.raises(BadInput) as caught:
        registry.find("answer").clean(asking([]), {})
    assert "text" in caught.value.fields


# Outcome


def started(owner):
    run = factory.make_run()
    call = factory.make_call(run)
    factory.start_effect(run, call, owner)
    return factory.park(run, ParkReason.OUTCOME_UNKNOWN, call=call)


def test_it_did_not_happen_is_offered_once_the_starter_is_dead():
    cleaned = registry.find("outcome").clean(started("nobody"), {"happened": "no"})

    assert cleaned["happened"] is False


def test_it_did_not_happen_is_not_offered_while_the_starter_may_live():
    now = clock.now()
    Driver.objects.create(
        owner="far", host="elsewhere", slot=1, pid=1, started_at=now, beat_at=now
    )
    review = started("far")

    with pytest.raises(BadInput):
        registry.find("outcome").clean(review, {"happened": "no"})


@pytest.mark.parametrize(
    ("entered", "result"),
    [("Sent.", "Sent."), ('{"id": 7}', {"id": 7}), ("{odd", "{odd"), ("", "")],
)
def test_a_result_is_text_or_json(entered, result):
    outcome, review = registry.find("outcome"), started("nobody")

    cleaned = outcome.clean(review, {"happened": "yes", "result": entered})

    verdict = outcome.to_verdict(review, cleaned)
    assert verdict is not None
    assert verdict.result == result


def test_what_did_not_happen_has_no_result():
    outcome, review = registry.find("outcome"), started("nobody")

    cleaned = outcome.clean(review, {"happened": "no", "result": "Sent."})

    verdict = outcome.to_verdict(review, cleaned)
    assert verdict is not None
    assert (verdict.happened, verdict.result) == (False, None)


# Top up


def broke(figures=MONEY_SPENT, **fields):
    run = factory.make_run(cost=Decimal("0.49"), steps_used=7, **fields)
    return factory.park(run, ParkReason.BUDGET, has_call=False, figures=figures)


def test_the_spent_budget_shows_a_suggestion_that_lets_the_run_go_on():
    fields = registry.find("top_up").form(broke()).fields

    # 0.49 used, 0.31 more forecast, to the next five cents
    assert fields["limits.money"].initial == "0.8"
    assert fields["limits.steps"].initial == "25"
    assert "$0.4900 of $0.5000 used" in fields["limits.money"].help_text


def test_a_suggestion_is_never_below_what_the_next_call_needs():
    figures = MONEY_SPENT | {"forecast": "$0.01", "needed": "$2.00"}

    money = budgets.KINDS["money"]
    assert suggestion(money, broke(figures)) == Decimal("2.50")


def test_only_the_limits_that_change_are_sent():
    entered = {"money": "1.00", "steps": "25", "seconds": "", "tokens": "200000"}

    cleaned = registry.find("top_up").clean(broke(), {"limits": entered})

    assert Decimal(cleaned["limits"]["money"]) == 1
    assert set(cleaned["limits"]) == {"money"}


@pytest.mark.parametrize(
    "entered",
    [
        {"money": "0.49"},
        {"money": "0"},
        {"money": "-1"},
        {"money": "NaN"},
        {"money": "1e99"},
        {"money": "a lot"},
        {"steps": "7"},
        {"steps": "8.5"},
    ],
)
def test_a_limit_that_does_not_help_is_refused(entered):
    with pytest.raises(BadInput) as caught:
        registry.find("top_up").clean(broke(), {"limits": entered})
    assert set(caught.value.fields) == {f"limits.{name}" for name in entered}


@pytest.mark.parametrize(
    ("entered", "is_again"),
    [
        ({"money": "1.00"}, True),
        ({"money": "1.0", "steps": "25"}, True),
        ({"money": "2.00"}, False),
        ({"money": "1.00", "steps": "50"}, False),
        ({"steps": "25"}, False),
    ],
)
def test_a_top_up_sent_twice_is_known_by_what_was_entered(entered, is_again):
    raised = broke(limits={"steps": 25, "money": "1.00"})

    top_up = registry.find("top_up")
    decided = {"limits": {"money": "1.00"}}
    assert top_up.is_again(raised, {"limits": entered}, decided) is is_again


def test_a_limit_the_run_does_not_have_is_not_asked_for():
    limits = {"steps": 25, "seconds": None, "money": "0.50", "tokens": None}

    form = registry.find("top_up").form(broke(limits=limits))

    assert set(form.fields) == {"limits.steps", "limits.money"}


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("$0.4900", "0.49"),
        ("1,200", "1200"),
        ("30.5 s", "30.5"),
        ("", "0"),
        (None, "0"),
    ],
)
def test_amounts_are_read_as_people_see_them(words, number):
    assert amount(words) == Decimal(number)


# Edit


def test_an_edit_that_changes_nothing_is_an_approval():
    edit, review = registry.find("edit"), factory.park()

    verdict = edit.to_verdict(review, {"arguments": factory.MAIL, "note": "Fine."})

    assert verdict is not None
    assert (verdict.arguments, verdict.note) == (None, "Fine.")


def test_the_form_sent_back_untouched_changes_nothing():
    edit, review = registry.find("edit"), factory.park()

    cleaned = edit.clean(review, as_a_browser_sends(edit.form(review)))

    assert cleaned["arguments"] == factory.MAIL


def test_types_are_kept():
    edit, review = registry.find("edit"), factory.park()
    sent = as_a_browser_sends(edit.form(review)) | {
        "arguments.copies": "3",
        "arguments.express": "true",
        "arguments.to": "ana@example.com\r\nben@example.com",
    }

    arguments = edit.clean(review, sent)["arguments"]

    assert arguments["copies"] == 3
    assert arguments["express"] is True
    assert arguments["to"] == ["ana@example.com", "ben@example.com"]


def test_a_wrong_value_is_told_beside_its_field():
    edit, review = registry.find("edit"), factory.park()
    sent = as_a_browser_sends(edit.form(review)) | {"arguments.copies": "many"}

    with pytest.raises(BadInput) as caught:
        edit.clean(review, sent)
    assert set(caught.value.fields) == {"arguments.copies"}


def test_it_is_not_offered_for_a_question():
    review = factory.park(reason=ParkReason.QUESTION)

    assert registry.find("edit") not in registry.offered(review)


def test_it_is_not_offered_once_the_tool_is_gone():
    run = factory.make_run()
    review = factory.park(run, call=factory.make_call(run, tool="gone"))

    assert registry.find("edit") not in registry.offered(review)


def as_a_browser_sends(form):
    """The form's values as POST data: all text, line ends CR LF."""
    sent = {}
    for field in form:
        value = field.value()
        sent[field.html_name] = "" if value is None else str(value)
    return {name: value.replace("\n", "\r\n") for name, value in sent.items()}
