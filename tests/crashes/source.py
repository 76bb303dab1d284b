"""The points of the step protocol, as they stand in the code."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runs import points
from tests.architecture.source import modules

WITH_POINTS = ("runs/", "reviews/", "tests/support/crash_child.py")


def all_points() -> list[str]:
    """Those around every write, and those that are reached by name."""
    found: set[str] = set()
    for node in _nodes():
        found |= set(map(str, _named(node, "reach")))
        for name in _named(node, "write"):
            found |= set(points.around(name))
    return sorted(found)


def _nodes() -> Iterator[ast.AST]:
    for module in modules():
        if module.path.startswith(WITH_POINTS):
            yield from ast.walk(module.tree)


def _named(node: ast.AST, function: str) -> Iterator[str]:
    """The text in `points.<function>("…")`, if the node is such a call."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="points"), attr=attr),
            args=[ast.Constant(value=str(name)), *_],
        ) if attr == function:
            yield name
