"""What every registered tool promises, whoever wrote it."""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
from typing import Any

import jsonschema
import pytest

from runs.canonical import MAX_ARGUMENTS
from runs.errors import InvalidCall
from runs.tools import registry
from runs.tools.base import Effect, Preview, ToolSpec
from tests.runs.tools.calls import context

EXAMPLES: dict[str, Any] = {
    "string": "text",
    "integer": 1,
    "number": 1,
    "boolean": True,
    "array": [],
    "object": {},
    "null": None,
}


def example(schema: dict[str, Any], root: dict[str, Any]) -> Any:
    """The smallest value that fits the schema."""
    if "$ref" in schema:
        return example(root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root)
    if "anyOf" in schema:
        return example(schema["anyOf"][0], root)
    given = schema.get("examples") or schema.get("enum")
    if given:
        return given[0]
    if schema["type"] == "object":
        return minimal(schema, root)
    if schema["type"] == "array":
        return [example(schema["items"], root)] * schema.get("minItems", 0)
    return EXAMPLES[schema["type"]]


def minimal(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties", {})
    return {
        name: example(properties[name], root) for name in schema.get("required", [])
    }


def arguments_of(spec: ToolSpec) -> dict[str, Any]:
    return spec.validate(minimal(spec.parameters, spec.parameters))


@pytest.fixture(params=[spec.name for spec in registry.all_specs()])
def spec(request: pytest.FixtureRequest) -> ToolSpec:
    return registry.get(request.param)


def test_its_name_is_one_that_models_can_call(spec: ToolSpec) -> None:
    assert spec.name.isidentifier()
    assert len(spec.name) <= 64


def test_its_schema_is_a_schema_of_an_object(spec: ToolSpec) -> None:
    parameters = registry.schema_for_model(spec)["function"]["parameters"]

    jsonschema.Draft202012Validator.check_schema(parameters)
    assert parameters["type"] == "object"
    assert parameters["additionalProperties"] is False
    json.dumps(parameters, allow_nan=False)


def test_it_is_described(spec: ToolSpec) -> None:
    assert 20 <= len(spec.description) <= 1_000


def test_it_says_what_it_will_do_when_that_cannot_be_undone(spec: ToolSpec) -> None:
    if spec.effect is Effect.IRREVERSIBLE:
        assert spec.describe is not None
        assert spec.preview is not None


def test_minimal_arguments_fit_and_their_validation_is_stable(spec: ToolSpec) -> None:
    arguments = arguments_of(spec)

    assert spec.validate(arguments) == arguments


def test_words_and_preview_never_fail(spec: ToolSpec) -> None:
    arguments = arguments_of(spec)

    assert spec.words(arguments)
    assert spec.effect_for(arguments) in Effect
    if spec.preview is not None:
        assert isinstance(spec.preview(arguments, context()), Preview)


def test_an_unknown_argument_is_told_to_the_model(spec: ToolSpec) -> None:
    with pytest.raises(InvalidCall, match="no_such_argument"):
        spec.validate(arguments_of(spec) | {"no_such_argument": 1})


def test_no_tool_of_ours_imports_rows() -> None:
    registry.discover()
    for name, module in sys.modules.copy().items():
        if name.startswith("runs.tools."):
            assert not _imported(module) & {"runs.models", "runs.engine"}, name


def _imported(module: Any) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{a.name}" for a in node.names)}
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def test_it_offers_no_text_that_is_longer_than_a_call_may_be(spec: ToolSpec) -> None:
    offered = json.dumps(spec.parameters)

    longest = [int(found) for found in re.findall(r'"maxLength": (\d+)', offered)]

    assert max(longest, default=0) < MAX_ARGUMENTS
