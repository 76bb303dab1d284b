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


RELIABILITY = DOCUMENT.parent / "docs" / "reliability.md"
NAMED = re.compile(r"`(?P<path>tests/[\w/]+\.py)(?:::(?P<test>\w+))?`")


def test_each_promise_names_a_test_that_there_is():
    named = [(m["path"], m["test"]) for m in NAMED.finditer(RELIABILITY.read_text())]
    texts = {path: _text(path) for path, _ in named}

    assert [path for path, text in texts.items() if not text] == []
    assert [t for path, t in named if t and f"def {t}(" not in texts[path]] == []
    rows = RELIABILITY.read_text().split("## What is not")[0].splitlines()
    promises = [row for row in rows if row.startswith("| **")]
    assert [row for row in promises if not NAMED.search(row)] == []


def _text(path: str) -> str:
    file = DOCUMENT.parent / path
    return file.read_text() if file.exists() else ""
