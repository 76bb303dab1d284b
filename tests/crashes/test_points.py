"""No write of the step protocol is without a point to die at. Read from the code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.source import ROOT, parsed
from tests.crashes.source import all_points

PROTOCOL = (
    "runs/engine.py",
    "runs/following.py",
    "runs/repeating.py",
    "runs/recording.py",
    "runs/recording_sql.py",
    "runs/leases.py",
    "runs/services.py",
    "runs/deciding.py",
    "runs/undoing.py",
    "runs/forking.py",
    "reviews/services.py",
    "reviews/undo.py",
)
WRITES = {"create", "update", "bulk_create", "bulk_update", "save", "delete"} | {
    "get_or_create",
    "update_or_create",
    "execute",
}
NOT_PROTOCOL = {
    "reviews/services.py:_hold": "who holds an item stops nobody but another person",
    "reviews/services.py:release": "the same",
}


class Function:
    """One function of the protocol: what it writes, whom it mentions."""

    def __init__(self, path: str, node: ast.FunctionDef) -> None:
        self.name = node.name
        self.where = f"{path}:{node.name}"
        self.has_point = any(_is_point(mark) for mark in node.decorator_list)
        called = [call.func for call in ast.walk(node) if isinstance(call, ast.Call)]
        self.mentions = {_last_name(f) for f in called} | {
            name.id for name in ast.walk(node) if isinstance(name, ast.Name)
        }
        self.writes = any(
            isinstance(function, ast.Attribute) and function.attr in WRITES
            for function in called
        )
        self.node = node


def functions() -> list[Function]:
    return [
        Function(path, node)
        for path in PROTOCOL
        if (Path(ROOT) / path).exists()
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef)
    ]


def test_every_write_is_a_point_or_part_of_one():
    assert [f.where for f in functions() if f.writes and not _is_covered(f)] == []


def test_every_transaction_has_a_point_inside_it():
    assert list(_transactions_without_point()) == []


def test_this_test_would_see_a_write_without_a_point():
    stray = ast.parse("def stray():\n    Run.objects.filter(pk=1).update(state='x')")
    function = Function("runs/engine.py", stray.body[0])  # type: ignore[arg-type]

    assert function.writes
    assert not _is_covered(function)


@pytest.mark.parametrize("point", ["before commit", "inside commit", "after commit"])
def test_the_list_of_points_comes_from_the_code(point):
    assert point in all_points()


def _is_covered(function: Function, seen: frozenset[str] = frozenset()) -> bool:
    """A point itself, or used by functions that are covered, and by no others."""
    if function.has_point or function.where in NOT_PROTOCOL:
        return True
    callers = [f for f in functions() if function.name in f.mentions]
    others = [f for f in callers if f.name not in {*seen, function.name}]
    return bool(others) and all(
        _is_covered(other, seen | {function.name}) for other in others
    )


def _transactions_without_point() -> Iterator[str]:
    for function in functions():
        for node in ast.walk(function.node):
            if isinstance(node, ast.With) and "atomic" in ast.dump(node.items[0]):
                inside = {_last_name(c.func) for c in _calls(node)}
                if not inside & {"reach", *_reaching()}:
                    yield function.where


def _reaching() -> set[str]:
    return {f.name for f in functions() if "reach" in f.mentions}


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    return (child for child in ast.walk(node) if isinstance(child, ast.Call))


def _is_point(mark: ast.expr) -> bool:
    return isinstance(mark, ast.Call) and ast.unparse(mark.func) == "points.write"


def _last_name(function: ast.expr) -> str:
    return ast.unparse(function).rpartition(".")[2]
