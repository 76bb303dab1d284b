"""The quarterly metrics agent, as the demo model plays it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reviews.samples import Table
from reviews.samples.agents import QUARTERLY_METRICS
from reviews.samples.tables import MONTHLY_REVENUE
from runs import conversation
from tests.runs.llm.demo.rehearsal import Call, Rehearsal

NOTE = (
    "Confirmed: the September spike is accurate due to enterprise deal close."
    " Proceed with sending."
)


def quarterly(folder: Path, **more: Any) -> Rehearsal:
    return Rehearsal(QUARTERLY_METRICS, folder, **more)


def revenue(*figures: int) -> dict[str, Table]:
    months = ("2024-07", "2024-08", "2024-09")
    rows = [
        (month, "North America", figure)
        for month, figure in zip(months, figures, strict=True)
    ]
    return {"monthly_revenue": Table(MONTHLY_REVENUE.columns, rows)}


def mail(rehearsal: Rehearsal) -> Call:
    found = rehearsal.go_on()
    assert isinstance(found, Call)
    assert found.name == "send_email"
    return found


def body(call: Call) -> str:
    return str(call.arguments["body_markdown"])


def test_it_plans_five_items(tmp_path: Path) -> None:
    items = quarterly(tmp_path).items

    assert len(items) == 5
    assert "monthly_revenue" in items[0]
    assert "30 %" in items[2]
    assert "analytics@company.com" in items[4]


def test_it_corrects_its_first_query_and_computes_growth(tmp_path: Path) -> None:
    rehearsal = quarterly(tmp_path)

    call = mail(rehearsal)

    names = [made.name for made in rehearsal.calls]
    assert names == [
        "query_database",
        "query_database",
        "calculate",
        "calculate",
        "send_email",
    ]
    assert "month_name" in rehearsal.calls[0].arguments["sql"]
    assert "month_name" not in rehearsal.calls[1].arguments["sql"]
    assert [made.item for made in rehearsal.calls] == [1, 1, 2, 2, 5]
    assert rehearsal.recent[0][1].startswith("Error: SQL error: no such column")
    assert call.arguments["to"] == ["analytics@company.com"]
    assert call.arguments["subject"] == "Q3 2024 Revenue Summary"
    assert "| September | 1,895,000 | +37.3 % | anomalous |" in body(call)
    assert "| August | 1,380,000 | +10.4 % |  |" in body(call)
    assert rehearsal.transport.problems == []


def test_its_check_is_unsure_when_a_month_grew_too_much(tmp_path: Path) -> None:
    rehearsal = quarterly(tmp_path)

    found = rehearsal.check(mail(rehearsal))

    assert found["confidence"] == 0.62
    assert found["rules_that_apply"] == [1]
    assert "September grew 37.3 %" in found["rationale"]
    assert found["reversible"] is False


def test_other_figures_make_another_mail(tmp_path: Path) -> None:
    rehearsal = quarterly(tmp_path, tables=revenue(100_000, 110_000, 120_000))

    call = mail(rehearsal)

    assert "| September | 120,000 | +9.1 % |  |" in body(call)
    assert "No month grew more than 30 %" in body(call)
    assert rehearsal.check(call)["confidence"] == 0.93
    assert rehearsal.check(call)["rules_that_apply"] == []


def test_it_takes_the_forms_inputs(tmp_path: Path) -> None:
    rehearsal = quarterly(
        tmp_path,
        quarter="Q4 2024",
        region="Europe",
        limit_percent=40,
        recipient="board@company.com",
    )

    call = mail(rehearsal)

    assert call.arguments["to"] == ["board@company.com"]
    assert call.arguments["subject"] == "Q4 2024 Revenue Summary"
    assert "| November | 1,240,000 | +34.6 % |  |" in body(call)
    assert "above the" not in body(call)


def test_it_understands_a_task_in_plain_words(tmp_path: Path) -> None:
    rehearsal = quarterly(
        tmp_path,
        task="Summarise 2024 Q2 for Europe, flag growth over 5 percent, mail"
        " cfo@company.com.",
    )

    call = mail(rehearsal)

    assert call.arguments["to"] == ["cfo@company.com"]
    assert "| June | 835,000 | +2.1 % |  |" in body(call)


def test_a_note_with_the_approval_is_in_the_answer(tmp_path: Path) -> None:
    rehearsal = quarterly(tmp_path)
    rehearsal.sent(mail(rehearsal))
    rehearsal.say(NOTE)

    answer = rehearsal.go_on()

    assert isinstance(answer, str)
    assert NOTE in answer
    assert "anomalous, confirmed" in answer
    assert "sent to analytics@company.com" in answer
    assert rehearsal.transport.problems == []


def test_a_rejection_goes_into_a_new_mail(tmp_path: Path) -> None:
    rehearsal = quarterly(tmp_path)
    first = mail(rehearsal)
    rehearsal.answer(
        first,
        "A person rejected this call. It was not carried out."
        " Reason: Say that September includes a one-off.",
    )

    second = mail(rehearsal)

    assert "Say that September includes a one-off." in body(second)
    assert body(first) in body(second)


@pytest.mark.parametrize(
    "reason",
    [
        "Do not send this at all.",
        "Stop here, please.",
        "No mail at all.",
        "Nothing is to be sent.",
        "It must not be sent.",
    ],
)
def test_a_rejection_may_end_it(tmp_path: Path, reason: str) -> None:
    rehearsal = quarterly(tmp_path)
    rejected = "A person rejected this call. It was not carried out. Reason: "
    rehearsal.answer(mail(rehearsal), rejected + reason)

    answer = rehearsal.go_on()

    assert isinstance(answer, str)
    assert "not sent" in answer
    assert reason in answer


def test_it_does_not_ask_for_ever(tmp_path: Path) -> None:
    rehearsal = quarterly(tmp_path)
    for reason in ("Shorter.", "Shorter still.", "No."):
        rehearsal.answer(
            mail(rehearsal), f"A person rejected this call. Reason: {reason}"
        )

    assert "not sent" in str(rehearsal.go_on())


def test_guidance_is_followed_visibly(tmp_path: Path) -> None:
    rehearsal = quarterly(tmp_path)
    rehearsal.answer(mail(rehearsal), "Not carried out: a person gave guidance.")
    rehearsal.say("Mention the currency.")

    second = mail(rehearsal)
    rehearsal.sent(second)

    assert "Mention the currency." in body(second)
    assert "Mention the currency." in str(rehearsal.go_on())


def test_guidance_for_all_runs_is_in_the_mail(tmp_path: Path) -> None:
    rehearsal = quarterly(tmp_path)
    rehearsal.messages[:2] = conversation.opening(
        QUARTERLY_METRICS["prompt"], rehearsal.task, ["Name the currency."]
    )

    assert "Name the currency." in body(mail(rehearsal))


def test_an_edited_mail_is_not_sent_again(tmp_path: Path) -> None:
    rehearsal = quarterly(tmp_path)
    rehearsal.answer(
        mail(rehearsal),
        "[A person changed the arguments of this call before it ran. It ran once,"
        ' with {"subject":"x","to":["ceo@company.com"]}]\n{"sent": true}',
    )

    answer = str(rehearsal.go_on())

    assert "sent to ceo@company.com" in answer
    assert "changed it" in answer


def test_a_refused_address_ends_in_words(tmp_path: Path) -> None:
    rehearsal = quarterly(tmp_path)
    rehearsal.answer(mail(rehearsal), "Error: Mail may only go to company.com.")

    answer = str(rehearsal.go_on())

    assert "not sent" in answer
    assert "Mail may only go to company.com." in answer


def test_an_outcome_that_a_person_confirms_counts_as_sent(tmp_path: Path) -> None:
    rehearsal = quarterly(tmp_path)
    rehearsal.answer(mail(rehearsal), "A person confirms that this took effect. null")

    assert "sent to analytics@company.com" in str(rehearsal.go_on())


def test_no_rows_send_nothing_and_settle_the_plan(tmp_path: Path) -> None:
    rehearsal = quarterly(
        tmp_path, task="Query Q1 2030, region Europe, 30 %, a@b.example"
    )

    answer = str(rehearsal.go_on())
    rehearsal.remind(2, 3, 4)
    rehearsal.go_on()

    assert "no rows for Q1 2030" in answer
    last = rehearsal.calls[-1]
    assert last.name == "update_plan"
    assert [i["status"] for i in last.arguments["items"]] == [
        "done",
        "dropped",
        "dropped",
        "dropped",
        "open",
    ]
    assert rehearsal.transport.problems == []


def test_a_database_that_is_not_there_ends_in_words(tmp_path: Path) -> None:
    rehearsal = quarterly(tmp_path)
    (tmp_path / "samples.sqlite3").write_bytes(b"")

    answer = str(rehearsal.go_on())

    assert "could not be read" in answer
    assert "no such table" in answer


def test_its_check_without_figures_is_unsure(tmp_path: Path) -> None:
    rehearsal = quarterly(tmp_path)
    call = mail(rehearsal)
    rehearsal.recent = []

    assert rehearsal.check(call)["confidence"] == 0.55
