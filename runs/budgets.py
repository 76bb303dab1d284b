"""Budgets: what a run may use, what it has used, what the next call may take. Pure.

Before each call its worst case is reserved; a call that does not fit parks the run
with figures. A cap can so be overshot by at most the stated bound of one call.
Adding a kind is adding one class here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from typing import Any, ClassVar

from runs.canonical import Json
from runs.errors import BadInput

BYTES_PER_TOKEN = 3
"""English runs at 4 bytes a token and more, JSON and most other scripts above 3."""
MONEY_PLACES = 6
"""Of a limit: a hundredth of a cent's hundredth, less than any call costs."""


@dataclass(frozen=True)
class Used:
    """What a run has used: active seconds, US dollars, tokens in and out."""

    steps: int = 0
    seconds: float = 0.0
    money: Decimal = Decimal(0)
    tokens: int = 0


@dataclass(frozen=True)
class Reservation:
    """The worst case of one call."""

    money: Decimal = Decimal(0)
    tokens: int = 0


NOTHING = Reservation()


@dataclass(frozen=True)
class Breach:
    """A budget the next call does not fit; amounts as text, in the kind's unit."""

    kind: str
    label: str
    used: str
    limit: str
    needed: str
    forecast: str

    def figures(self) -> dict[str, Json]:
        return {
            "budget": self.kind,
            "used": self.used,
            "limit": self.limit,
            "needed": self.needed,
            "forecast": self.forecast,
        }

    def sentence(self) -> str:
        return (
            f"{self.label}: {self.used} of {self.limit} used, the next call may take"
            f" {self.needed}. About {self.forecast} would see it to its end."
        )


class Kind:
    """One budget. `name` is its key in the JSON of limits."""

    name: ClassVar[str]
    label: ClassVar[str]
    most: ClassVar[Decimal]

    def used(self, used: Used) -> Decimal:
        raise NotImplementedError

    def needed(self, reservation: Reservation) -> Decimal:
        raise NotImplementedError

    def format(self, amount: Decimal) -> str:
        """For people; a forecast of half a step is one of a whole one."""
        return f"{amount.to_integral_value(ROUND_CEILING):,f}"

    def read(self, value: Json) -> Json:
        """A limit as stored; raises ValueError in words for people."""
        amount = self.whole(value)
        if amount != amount.to_integral_value():
            raise ValueError("must be a whole number")
        return int(amount)

    def whole(self, value: Json) -> Decimal:
        try:
            amount = Decimal(str(value))
        except InvalidOperation:
            raise ValueError("must be a number") from None
        if not amount.is_finite() or amount <= 0:
            raise ValueError("must be more than 0")
        if amount > self.most:
            raise ValueError(f"must be at most {self.format(self.most)}")
        return amount


class Steps(Kind):
    name, label, most = "steps", "Steps", Decimal(10_000)

    def used(self, used: Used) -> Decimal:
        return Decimal(used.steps)

    def needed(self, reservation: Reservation) -> Decimal:
        return Decimal(1)


class Seconds(Kind):
    """Waiting for a person is free, waiting for a retry is not."""

    name, label, most = "seconds", "Active time", Decimal(7 * 86_400)

    def used(self, used: Used) -> Decimal:
        return Decimal(str(round(used.seconds, 1)))

    def needed(self, reservation: Reservation) -> Decimal:
        return Decimal("0.1")

    def format(self, amount: Decimal) -> str:
        return f"{amount:,f} s"


class Money(Kind):
    name, label, most = "money", "Money", Decimal(100_000)

    def used(self, used: Used) -> Decimal:
        return used.money

    def needed(self, reservation: Reservation) -> Decimal:
        return reservation.money

    def format(self, amount: Decimal) -> str:
        return f"${amount.quantize(Decimal('0.0001')):,f}"

    def read(self, value: Json) -> Json:
        """In plain digits, for whoever shows it; raises ValueError."""
        amount = self.whole(value)
        if amount != round(amount, MONEY_PLACES):
            raise ValueError(f"must have at most {MONEY_PLACES} decimals")
        return f"{amount:f}"


class Tokens(Kind):
    name, label, most = "tokens", "Tokens", Decimal(1_000_000_000)

    def used(self, used: Used) -> Decimal:
        return Decimal(used.tokens)

    def needed(self, reservation: Reservation) -> Decimal:
        return Decimal(reservation.tokens)


KINDS: dict[str, Kind] = {
    kind.name: kind for kind in (Steps(), Seconds(), Money(), Tokens())
}


def limit_of(limits: Mapping[str, Json], kind: Kind) -> Decimal | None:
    """The limit, None where there is none."""
    value = limits.get(kind.name)
    return None if value is None else Decimal(str(value))


def breach(
    limits: Mapping[str, Json], used: Used, reservation: Reservation
) -> Breach | None:
    """The first budget the next call does not fit, or None; reached means stopped.

    The forecast is a plain one, since nobody knows how long an agent goes on: half
    of what has been used again, and at least ten calls like the next.
    """
    for kind in KINDS.values():
        limit = limit_of(limits, kind)
        if limit is None:
            continue
        has, needs = kind.used(used), kind.needed(reservation)
        if has + needs > limit or has >= limit > 0:
            more = max(has / 2, needs * 10)
            return Breach(
                kind.name,
                kind.label,
                kind.format(has),
                kind.format(limit),
                kind.format(needs),
                kind.format(more),
            )
    return None


def read_limits(
    given: Mapping[str, Any], defaults: Mapping[str, Json]
) -> dict[str, Json]:
    """Limits of a run: what is given over the defaults.

    An empty text takes the default, None means no limit. Raises `BadInput` with a
    field `limits.<kind>` for each that is unknown, zero, negative or absurd.
    """
    problems: dict[str, str] = {}
    limits = dict(defaults)
    for name, value in given.items():
        if name not in KINDS:
            problems[f"limits.{name}"] = f"There is no budget called {name}."
        elif value is None:
            limits[name] = None
        elif value != "":
            try:
                limits[name] = KINDS[name].read(value)
            except ValueError as error:
                problems[f"limits.{name}"] = f"{KINDS[name].label} {error}."
    if problems:
        raise BadInput(problems)
    return limits


def tokens_of(size: int) -> int:
    """Tokens of so many bytes of UTF-8, estimated upwards."""
    return -(-size // BYTES_PER_TOKEN)
