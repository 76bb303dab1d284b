"""Tools are found where they are written, once each."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.core.exceptions import ImproperlyConfigured

from runs.tools import registry
from runs.tools.base import Effect, ToolSpec, tool

pytestmark = pytest.mark.once


def a_tool(name: str) -> ToolSpec:
    @tool(effect=Effect.READ, name=name)
    def made(value: int = 1) -> int:
        """Return the value."""
        return value

    return made


def test_it_finds_the_tools_of_its_own_package() -> None:
    names = [spec.name for spec in registry.all_specs()]

    assert names == sorted(names)
    assert {"ask_human", "escalate", "calculate", "update_plan"} <= set(names)
    assert registry.get("calculate").name == "calculate"


def test_it_has_no_tool_of_an_unknown_name() -> None:
    with pytest.raises(KeyError):
        registry.get("no_such_tool")


def test_it_refuses_a_second_tool_of_the_same_name() -> None:
    with (
        pytest.raises(ImproperlyConfigured, match="Two tools are called 'calculate'"),
        registry.added(a_tool("calculate")),
    ):
        pass

    assert registry.get("calculate").function.__name__ == "calculate"


def test_a_tool_can_be_added_for_a_while() -> None:
    with registry.added(a_tool("passing")):
        assert registry.get("passing").name == "passing"

    with pytest.raises(KeyError):
        registry.get("passing")


APP_TOOLS = '''
from __future__ import annotations
from runs.tools.base import Effect, tool
from runs.tools.calculate import calculate

@tool(effect=Effect.READ)
def look_up(key: str) -> str:
    """Look one record up."""
    return key
'''


@pytest.fixture
def shop(tmp_path: Path, settings: object) -> Iterator[str]:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").touch()
    (tmp_path / "shop" / "tools.py").write_text(APP_TOOLS)
    sys.path.insert(0, str(tmp_path))
    yield "shop"
    sys.path.remove(str(tmp_path))
    for name in ("shop", "shop.tools"):
        sys.modules.pop(name, None)


def test_it_finds_the_tools_of_an_installed_app(
    shop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_specs", {})
    monkeypatch.setattr(registry, "_discovered", False)
    installed = [*(config.name for config in apps.get_app_configs()), shop]
    apps.set_installed_apps(installed)
    try:
        names = [spec.name for spec in registry.all_specs()]
    finally:
        apps.unset_installed_apps()

    assert "look_up" in names
    assert names.count("calculate") == 1


def test_the_schema_for_a_model_has_the_item_of_the_plan() -> None:
    spec = a_tool("made")

    schema = registry.schema_for_model(spec)

    properties = schema["function"]["parameters"]["properties"]
    assert properties["plan_item"]["type"] == "integer"
    assert "plan_item" not in schema["function"]["parameters"].get("required", [])
    assert "plan_item" not in spec.parameters["properties"]


def test_no_tool_may_use_our_name_for_the_item_of_the_plan() -> None:
    def planner(plan_item: int) -> None:
        """Plan."""

    with pytest.raises(TypeError, match="plan_item is a name of ours"):
        tool(effect=Effect.READ)(planner)
