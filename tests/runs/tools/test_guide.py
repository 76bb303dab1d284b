"""The tool in docs/tools.md works as it stands there."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.conf import settings

from runs.errors import Fatal, InvalidCall, NotSent, OutcomeUnknown
from runs.tools.base import Reconciled, ToolSpec
from runs.tools.perform import perform, reconcile
from tests.runs.tools.calls import KEY, context

pytestmark = pytest.mark.once

GUIDE = Path(settings.BASE_DIR) / "docs" / "tools.md"
CALL = {"order": 7, "cents": 1250, "reason": "Broken."}


class Payments(ModuleType):
    """The shop's side, as far as the guide uses it."""

    class Refused(Exception):
        pass

    class NotConnected(Exception):
        pass

    def __init__(self) -> None:
        super().__init__("shop.payments")
        self.made: dict[str, str] = {}
        self.failure: Exception | None = None

    def exists(self, order: int) -> bool:
        return order == 7

    def find(self, key: str) -> str | None:
        return self.made.get(key)

    def refund(self, order: int, cents: int, key: str, timeout: float) -> str:
        if self.failure:
            raise self.failure
        return self.made.setdefault(key, "R-1")


@pytest.fixture
def payments() -> Iterator[Payments]:
    shop, made = ModuleType("shop"), Payments()
    shop.payments = made  # type: ignore[attr-defined]
    sys.modules |= {"shop": shop, "shop.payments": made}
    yield made
    del sys.modules["shop"], sys.modules["shop.payments"]


@pytest.fixture
def refund(payments: Payments) -> ToolSpec:
    namespace: dict[str, Any] = {"__name__": "shop.tools"}
    for block in re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL):
        exec(compile(block, str(GUIDE), "exec"), namespace)  # noqa: S102
    spec: ToolSpec = namespace["refund"]
    return spec


def test_it_is_described_by_its_first_paragraph(refund: ToolSpec) -> None:
    assert refund.description == "Refund a customer for an order, once."
    assert refund.words(CALL) == "Refund 12.50 for order 7"
    assert "context" not in refund.parameters["properties"]


def test_it_acts_and_can_tell_that_it_did(refund: ToolSpec) -> None:
    before = reconcile(refund, CALL, context())

    result = perform(refund, CALL, context())

    after = reconcile(refund, CALL, context())
    assert before.outcome is Reconciled.NOT_HAPPENED
    assert (after.outcome, after.result) == (Reconciled.HAPPENED, result)


def test_wrong_calls_are_told_to_the_model(refund: ToolSpec) -> None:
    with pytest.raises(InvalidCall, match="no order 8"):
        perform(refund, {**CALL, "order": 8}, context())
    with pytest.raises(InvalidCall, match="cents"):
        perform(refund, {**CALL, "cents": 0}, context())


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (Payments.Refused("closed"), Fatal),
        (Payments.NotConnected("down"), NotSent),
        (TimeoutError(), OutcomeUnknown),
        (ValueError("a bug"), OutcomeUnknown),
    ],
)
def test_its_errors_say_what_happens_next(
    failure: Exception,
    error: type[Exception],
    payments: Payments,
    refund: ToolSpec,
) -> None:
    payments.failure = failure

    with pytest.raises(error):
        perform(refund, CALL, context())

    assert KEY not in payments.made
