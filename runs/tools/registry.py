"""Every tool there is: found in this package and in the apps' `tools` modules.

A module that defines a `ToolSpec` has added a tool; nothing else is to be touched.
"""

from __future__ import annotations

import copy
import pkgutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured

from runs.canonical import Json
from runs.tools.base import PLAN_ITEM, ToolSpec

_PACKAGE = "runs.tools"
_ITEM_SCHEMA: dict[str, Json] = {
    "type": "integer",
    "description": "Number of the item of the plan that this call works on.",
}

_specs: dict[str, ToolSpec] = {}
_discovered = False
_lock = threading.RLock()


def discover() -> None:
    """Import every module that may hold tools; the second call does nothing.

    Raises `ImproperlyConfigured` when two tools have one name, and whatever
    importing a module raises. Needs Django's apps to be loaded.
    """
    global _discovered
    with _lock:
        if _discovered:
            return
        for module in _modules():
            for spec in _defined_in(module):
                register(spec)
        _discovered = True


def register(spec: ToolSpec) -> ToolSpec:
    """Add one tool; raises `ImproperlyConfigured` if its name is taken."""
    with _lock:
        known = _specs.setdefault(spec.name, spec)
    if known is not spec:
        raise ImproperlyConfigured(
            f"Two tools are called {spec.name!r}: {_origin(known)} and {_origin(spec)}."
        )
    return spec


@contextmanager
def added(*specs: ToolSpec) -> Iterator[None]:
    """These tools exist as well, for as long as the block lasts."""
    discover()
    try:
        for spec in specs:
            register(spec)
        yield
    finally:
        with _lock:
            for spec in specs:
                if _specs.get(spec.name) is spec:
                    del _specs[spec.name]


def get(name: str) -> ToolSpec:
    """Raises KeyError for a name that no tool has."""
    discover()
    return _specs[name]


def all_specs() -> list[ToolSpec]:
    """Every tool, ordered by name."""
    discover()
    with _lock:
        return sorted(_specs.values(), key=lambda spec: spec.name)


def schema_for_model(spec: ToolSpec) -> dict[str, Json]:
    """The tool as an entry of a request's `tools`, with our `plan_item` added."""
    parameters = copy.deepcopy(spec.parameters)
    parameters.setdefault("properties", {})[PLAN_ITEM] = dict(_ITEM_SCHEMA)
    return {
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": parameters,
        },
    }


def _modules() -> Iterator[ModuleType]:
    package = import_module(_PACKAGE)
    for info in pkgutil.iter_modules(package.__path__, prefix=f"{_PACKAGE}."):
        yield import_module(info.name)
    for app in apps.get_app_configs():
        name = f"{app.name}.tools"
        if name != _PACKAGE and find_spec(name) is not None:
            yield import_module(name)


def _defined_in(module: ModuleType) -> list[ToolSpec]:
    """The module's own tools: what it merely imported belongs to another."""
    home = module.__name__
    return [
        value
        for value in vars(module).values()
        if isinstance(value, ToolSpec)
        and f"{value.function.__module__}.".startswith(f"{home}.")
    ]


def _origin(spec: ToolSpec) -> str:
    return f"{spec.function.__module__}.{spec.function.__qualname__}"
