"""Where the time went: one bar a step, waiting for people cut out. Pure.

Positions and widths are percent of the active time, as the picture wants them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from runs import words
from runs.states import StepKind, StepStatus
from runs.timeline import Entry

ROW_PX = 16
MOST_ROWS = 40
WAIT_SHARE = 0.06
THINNEST = 0.5
NICE_S = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200)
TICKS = 5


@dataclass(frozen=True)
class Bar:
    entry: Entry
    css: str
    x: float
    width: float
    y: int


@dataclass(frozen=True)
class Tick:
    x: float
    label: str


@dataclass
class Waterfall:
    bars: list[Bar] = field(default_factory=list)
    ticks: list[Tick] = field(default_factory=list)
    in_words: str = ""

    @property
    def rows_px(self) -> int:
        return len(self.bars) * ROW_PX

    @property
    def label_y(self) -> int:
        return self.rows_px + 15

    @property
    def height(self) -> int:
        return self.rows_px + 20


def draw(entries: Sequence[Entry]) -> Waterfall | None:
    """The picture of the newest steps that have taken any time; None without."""
    timed = [entry for entry in entries if entry.seconds is not None][-MOST_ROWS:]
    worked = sum(entry.seconds or 0 for entry in timed if not entry.is_decision)
    if not timed or worked <= 0:
        return None
    total = worked * (1 + WAIT_SHARE * sum(entry.is_decision for entry in timed))
    picture = Waterfall(in_words=_in_words(timed, worked))
    at, cuts = 0.0, []
    for place, entry in enumerate(timed):
        wide = worked * WAIT_SHARE if entry.is_decision else (entry.seconds or 0)
        if entry.is_decision:
            cuts.append((at, wide))
        picture.bars.append(_bar(entry, at / total, wide / total, place))
        at += wide
    picture.ticks = list(_ticks(worked, total, cuts))
    return picture


def _bar(entry: Entry, start: float, share: float, place: int) -> Bar:
    width = max(share * 100, THINNEST)
    x = min(start * 100, 100 - width)
    return Bar(entry, _css(entry), round(x, 2), round(width, 2), place * ROW_PX + 4)


def _css(entry: Entry) -> str:
    if entry.is_decision:
        return "wait"
    if entry.step.status in {StepStatus.FAILED, StepStatus.OUTCOME_UNKNOWN}:
        return "failed"
    if entry.tone == "bad":
        return "failed"
    if entry.is_now:
        return "now"
    if entry.step.kind == StepKind.CHECK and entry.tone == "wait":
        return "parked"
    return "tool" if entry.step.kind == StepKind.TOOL else "model"


def _ticks(
    worked: float, total: float, cuts: Sequence[tuple[float, float]]
) -> list[Tick]:
    step = next((nice for nice in NICE_S if worked / nice <= TICKS), worked)
    ticks, active = [], 0.0
    while active < worked * 0.97:
        shift = sum(wide for at, wide in cuts if at - _before(cuts, at) <= active)
        x = (active + shift) / total * 100
        ticks.append(Tick(round(x, 2), words.duration(active) if active else "0 s"))
        active += step
    return ticks


def _before(cuts: Sequence[tuple[float, float]], place: float) -> float:
    return sum(wide for at, wide in cuts if at < place)


def _in_words(timed: Sequence[Entry], worked: float) -> str:
    acts = [entry for entry in timed if not entry.is_decision]
    longest = max(acts, key=lambda entry: entry.seconds or 0)
    waited = sum(entry.seconds or 0 for entry in timed if entry.is_decision)
    cost = f" and {words.money(longest.cost)}" if longest.cost else ""
    parts = [
        f"{words.plural(len(timed), 'step')} over {words.duration(worked)} of work.",
        (
            f"Longest: {longest.title} in step {longest.number},"
            f" {words.duration(longest.seconds)}{cost}."
        ),
    ]
    if waited:
        parts.append(
            f"The run waited {words.duration(waited)} for a person, which is free."
        )
    return " ".join(parts)
