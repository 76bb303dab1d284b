"""What ARCHITECTURE.md says of the states is what the code does."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

from runs.states import LEGAL, RunState

DOCUMENT = Path(__file__).resolve().parents[2] / "ARCHITECTURE.md"
ROW = re.compile(r"^\| (?P<letter>[a-z]) \| (?P<old>[^→|]+) → (?P<new>[^|]+) \|", re.M)


def described() -> set[tuple[str, str]]:
    """Every move of the lettered table, as (from, to)."""
    moves: set[tuple[str, str]] = set()
    for row in ROW.finditer(DOCUMENT.read_text()):
        moves |= set(product(row["old"].split(", "), row["new"].split(", ")))
    return moves


def test_the_table_of_moves_is_the_one_in_the_code():
    legal = {(old.value, new.value) for old, news in LEGAL.items() for new in news}

    assert described() == legal


def test_the_diagram_names_every_state_and_every_letter():
    diagram = DOCUMENT.read_text().split("## States")[1].split("```")[1]
    letters = {row["letter"] for row in ROW.finditer(DOCUMENT.read_text())}

    assert [s.value for s in RunState if s.value not in diagram] == []
    assert [x for x in sorted(letters) if not re.search(rf"\b{x}\b", diagram)] == []
