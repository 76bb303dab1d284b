"""Every module says what it is for, and code that decides does not tell the time."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import PurePath

import pytest

from tests.architecture.source import Module, modules

pytestmark = pytest.mark.once

EMPTY_NAMES = {"utils", "util", "helpers", "helper", "misc", "common", "manager"}
CLOCKS = {
    ("datetime", "now"),
    ("datetime", "utcnow"),
    ("datetime", "today"),
    ("date", "today"),
    ("time", "time"),
    ("time", "time_ns"),
    ("timezone", "now"),
}
THE_EFFECTS = "runs/tools/base.py"
THE_DOOR_OF_ITEMS = "reviews/models/review.py"
THE_CLOCK = "agentops/clock.py"
# What these decide depends on their arguments alone.
REPEATABLE = {
    f"runs/{name}.py"
    for name in (
        "budgets",
        "canonical",
        "classify",
        "conversation",
        "planning",
        "states",
        "values",
    )
}
CHANCE = {"random", "secrets", "uuid"}


def test_every_module_has_a_docstring():
    silent = [m.path for m in modules() if m.text and not ast.get_docstring(m.tree)]

    assert silent == []


def test_no_module_has_a_name_that_says_nothing():
    vague = [m.path for m in modules() if PurePath(m.path).stem in EMPTY_NAMES]

    assert vague == []


def test_only_the_clock_tells_the_time():
    asked = [
        f"{module.path}:{line}"
        for module in modules()
        if module.package != "tests" and module.path != THE_CLOCK
        for line in _asks_for_the_time(module)
    ]

    assert asked == []


def test_code_that_decides_leaves_nothing_to_chance():
    chancy = [
        f"{module.path} imports {name}"
        for module in modules()
        if module.path in REPEATABLE
        for name in sorted(_imported(module) & CHANCE - _as_types(module))
    ]

    assert chancy == []


def test_an_effect_is_named_by_its_enum():
    spelt = [
        f"{module.path}:{node.lineno}"
        for module in modules()
        if module.package != "tests" and module.path != THE_EFFECTS
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant) and node.value == "irreversible"
    ]

    assert spelt == []


def test_items_close_and_open_again_by_one_door():
    """Which cares for the version, the holder and the time; making one is no change."""
    closing = [
        f"{module.path}:{node.lineno}"
        for module in modules()
        if module.package == "reviews" and module.path != THE_DOOR_OF_ITEMS
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "update"
        and "closed_at" in {keyword.arg for keyword in node.keywords}
    ]

    assert closing == []


def _asks_for_the_time(module: Module) -> Iterator[int]:
    for node in ast.walk(module.tree):
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                if (owner, name) in CLOCKS:
                    yield node.lineno


def _imported(module: Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


def _as_types(module: Module) -> set[str]:
    """`from uuid import UUID` brings a type along, not a source of chance."""
    return {
        node.module
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom)
        and node.module == "uuid"
        and {alias.name for alias in node.names} == {"UUID"}
    }
