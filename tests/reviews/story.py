"""The quarterly mail as rows: what the model had read, and the call it then made."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from reviews.models import Review
from runs.models import Run
from runs.states import StepKind
from tests.support import factory

TASK = (
    "Query monthly_revenue for Q3 2024, region North America. Compute growth, and mail"
    ' it to analytics@company.com with the subject "Q3 2024 Revenue Summary".'
)
BODY = (
    "| September | 1,895,000 | **+37.3 %** |\n\nIt grew by 37.3 % from 1,250,000, thanks"
    " to an enterprise deal. Quarter total: 4,525,000."
)
MAIL = {
    "to": ["analytics@company.com"],
    "subject": "Q3 2024 Revenue Summary",
    "body": BODY,
}


def a_result(run: Run, name: str, result: Any, **fields: Any) -> None:
    response = {"result": result, "text": str(result), "is_error": False}
    extra = {key: fields.pop(key) for key in ("untrusted", "is_error") if key in fields}
    values = {
        "request": {"call_id": "q", "arguments": {}},
        "response": response | extra,
    }
    factory.add_step(run, StepKind.TOOL, name=name, **(values | fields))


def the_story(arguments: dict[str, Any] | None = None, **fields: Any) -> Review:
    """Two months read in step 2, the growth worked out in step 3, then the mail."""
    run = factory.make_run(task=TASK, **fields)
    factory.add_step(run, StepKind.MODEL, response={"content": "It was 4,525,000."})
    a_result(run, "query_database", {"rows": [["2024-09", 1895000], ["x", 1250000]]})
    a_result(run, "calculate", {"value": "37.318840579710144928"})
    return factory.park(run, call=factory.make_call(run, arguments or MAIL))


def page_of(client: Any, review: Review, name: str = "detail") -> str:
    answer = client.get(reverse(f"reviews:{name}", args=[review.pk]))
    return " ".join(answer.content.decode().split())
