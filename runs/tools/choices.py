"""What an admin may choose about a tool: its settings, by their names and types.

A misspelt rule is a rule that does not hold, so what a tool does not know it refuses.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, ValidationError

from runs.canonical import Json


class Choices(BaseModel):
    """The settings of a tool as fields; each has a default. Types are not converted."""

    model_config = ConfigDict(extra="forbid", strict=True)


def problems(choices: type[Choices] | None, settings: Mapping[str, Json]) -> list[str]:
    """What is wrong with the settings, in words; nothing where any are taken."""
    if choices is None:
        return []
    try:
        choices.model_validate(dict(settings))
    except ValidationError as error:
        return [
            f"{'.'.join(map(str, item['loc']))}: {item['msg']}"
            for item in error.errors(include_url=False, include_input=False)
        ]
    return []
