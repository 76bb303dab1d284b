"""Nothing grows past what one can read at a sitting."""

from __future__ import annotations

import ast

import pytest

from tests.architecture.source import modules

pytestmark = pytest.mark.once

MODULE_LINES = 400
FUNCTION_LINES = 60


def test_no_module_is_longer_than_400_lines():
    lengths = {module.path: module.text.count("\n") for module in modules()}

    assert {path: n for path, n in lengths.items() if n > MODULE_LINES} == {}


def test_no_function_is_longer_than_60_lines():
    lengths = {
        f"{module.path}:{node.lineno} {node.name}": _lines(node)
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }

    assert {name: n for name, n in lengths.items() if n > FUNCTION_LINES} == {}


def _lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1
