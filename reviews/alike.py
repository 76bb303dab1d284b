"""Which items look alike, and which of those that do stand out. Pure.

`shape` is one digest for look-alikes: of a call, its reason, tool, effect and the
names and types of its arguments; of an error, its reason, class and words, so that
what one outage stopped is one group. `compare` then looks at the values: what is the
same in nearly all of a group tells apart the few in which it differs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from statistics import median

from runs.canonical import Json, digest, dumps
from runs.states import ParkReason

FEWEST = 3
"""Fewer items than this are no group."""
MOSTLY = Decimal(2) / 3
"""What this share of a group has in common, the others stand out by not having."""
NEAR = Decimal("0.1")
CLOSE = Decimal("0.25")
SPREADS = Decimal("4.5")
LOOKED_AT = 2_000
ITEMS = 50

STOPPED = frozenset(
    {
        ParkReason.RETRIES,
        ParkReason.FATAL,
        ParkReason.REFUSED,
        ParkReason.CONTEXT,
        ParkReason.POISON,
        ParkReason.CHECK_FAILED,
        ParkReason.INVALID_CALLS,
        ParkReason.NO_PROGRESS,
    }
)
"""Reasons that are alike by what went wrong, not by what was about to be done."""
ASKS = frozenset({ParkReason.QUESTION, ParkReason.ESCALATION})

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|`[^`]*`|(?<!\w)'[^']*'(?!\w)")
_STATUS = re.compile(r"(?<![\w.#/-])([45]\d\d)(?![\w./-]*\d|\s*(?:ms|s|%|bytes)\b)")
_NUMBERED = re.compile(r"[\w@+-]*\d[\w@+-]*")
_NUMBERS = re.compile(r"#(?:[.:,/]#)+")
_ADDRESS = re.compile(r"[^@\s]+@([^@\s]+)")
_URL = re.compile(r"(\w+://[^/?#\s]+)\S*")


def shape(park: Mapping[str, Json]) -> str:
    """The digest that look-alikes share, of a run's park as `values.Park` has it."""
    reason, call = ParkReason(park["reason"]), park["call"] or {}
    if reason in STOPPED:
        error = park["error"] or {"class": "", "text": park["question"]}
        words = bare(error["text"])
        of: list[Json] = ["stopped", call.get("tool", ""), error["class"], words]
        return digest([reason.value, *of, call.get("effect", "")])
    if reason in ASKS or not call:
        words = bare(park["title"] if reason in ASKS else park["question"])
        return digest([reason.value, "asks", words])
    given = [[name, _type(v)] for name, v in sorted(call["arguments"].items())]
    given = [pair for pair in given if pair[1] != "null"]
    return digest([reason.value, "call", call["tool"], call["effect"], given])


def bare(text: str) -> str:
    """A text without what differs from case to case: numbers, ids, quoted parts.

    Codes from 400 to 599 stay: that a key was refused is not that a server is away.
    """
    text = _QUOTED.sub("…", text[:LOOKED_AT])
    text = _STATUS.sub(lambda found: _as_letters(found[1]), text)
    text = _NUMBERS.sub("#", _NUMBERED.sub("#", text))
    return " ".join(text.lower().split())


def _as_letters(code: str) -> str:
    """So that it survives the numbers being taken out."""
    return "status-" + "".join("abcdefghij"[int(digit)] for digit in code)


def _type(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "text"
        case _:
            return "list" if isinstance(value, list) else "structure"


@dataclass(frozen=True)
class Comparison:
    """What a group has in common, and who stands out in what.

    `same` maps names to the value that all have, `differing` names the rest, in
    order; `outliers` maps a place in the group to the names in which it stands out.
    """

    size: int
    same: Mapping[str, Json] = field(default_factory=dict)
    differing: Sequence[str] = ()
    outliers: Mapping[int, Sequence[str]] = field(default_factory=dict)

    @property
    def alike(self) -> int:
        return self.size - len(self.outliers)

    @property
    def words(self) -> str:
        """ "38 alike, 2 differ in amount"."""
        if not self.outliers:
            return f"{self.size} alike"
        found = {name for names in self.outliers.values() for name in names}
        ordered = [plain_name(name) for name in self.differing if name in found]
        verb = "differs" if len(self.outliers) == 1 else "differ"
        return f"{self.alike} alike, {len(self.outliers)} {verb} in {_and(ordered)}"


def plain_name(name: str) -> str:
    return name.replace("_", " ")


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def compare(group: Sequence[Mapping[str, Json]]) -> Comparison:
    """Compare the arguments of look-alikes; nobody stands out of fewer than `FEWEST`.

    A field that nearly all have exactly the same tells the others apart. Else one in
    which nearly all are near each other: numbers by their distance to the middle
    one, addresses by their domain, texts by their words without figures.
    """
    names = list(dict.fromkeys(name for one in group for name in one))
    same: dict[str, Json] = {}
    outliers: dict[int, list[str]] = {}
    for name in names:
        values = [one.get(name) for one in group]
        exact = [digest(value) for value in values]
        if len(set(exact)) == 1:
            same[name] = values[0]
            continue
        for place in _standing_out(values, exact):
            outliers.setdefault(place, []).append(name)
    differing = [name for name in names if name not in same]
    return Comparison(len(group), same, differing, dict(sorted(outliers.items())))


def _standing_out(values: Sequence[Json], exact: Sequence[str]) -> list[int]:
    if len(values) < FEWEST:
        return []
    found = _minority(exact)
    if found is not None:
        return found
    numbers = [_number(value) for value in values]
    if any(number is not None for number in numbers):
        return _far(numbers)
    return _minority([_near_key(value) for value in values]) or []


def _minority(keys: Sequence[Hashable]) -> list[int] | None:
    """The places whose key is not the one of nearly all; None if there is no such."""
    common, number = Counter(keys).most_common(1)[0]
    if number < MOSTLY * len(keys):
        return None
    return [place for place, key in enumerate(keys) if key != common]


def _far(numbers: Sequence[Decimal | None]) -> list[int]:
    """The places far from the middle, unless the numbers lie anywhere.

    They lie anywhere when half of them are more than a quarter of the middle away
    from it. Near is within a tenth of the middle, or within `SPREADS` times the
    median distance to it, whichever is more.
    """
    known = [number for number in numbers if number is not None]
    if len(known) < MOSTLY * len(numbers):
        return []
    middle = median(known)
    spread = median(abs(number - middle) for number in known)
    if spread > CLOSE * abs(middle):
        return []
    near = max(NEAR * abs(middle), SPREADS * spread)
    far = [
        place
        for place, number in enumerate(numbers)
        if number is None or abs(number - middle) > near
    ]
    return far if len(far) <= (1 - MOSTLY) * len(numbers) else []


def _number(value: Json) -> Decimal | None:
    """Also of a text that is a number and nothing else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = Decimal(str(value)[:40])
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _near_key(value: Json) -> Hashable:
    """What values that are near each other have in common."""
    if isinstance(value, str):
        return _near_text(value)
    if isinstance(value, list):
        return frozenset(_near_key(item) for item in value[:ITEMS])
    if isinstance(value, dict):
        return frozenset(value)
    return dumps(value)


def _near_text(text: str) -> str:
    if found := _ADDRESS.fullmatch(text.strip()):
        return f"@{found[1].lower()}"
    if found := _URL.fullmatch(text.strip()):
        return found[1].lower()
    return bare(text)
