"""The tool by which an agent revises its plan; the engine keeps each revision."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from runs.tools.base import Effect, tool


class PlanItem(BaseModel):
    """One thing the agent means to do; a dropped one says why."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    text: Annotated[str, Field(min_length=1, max_length=500)]
    status: Literal["open", "done", "dropped"] = "open"
    reason: Annotated[str, Field(max_length=500)] = ""

    @model_validator(mode="after")
    def _dropped_says_why(self) -> PlanItem:
        if self.status == "dropped" and not self.reason:
            raise ValueError("a dropped item needs a reason")
        return self


@tool(effect=Effect.READ, keeps_deadline=True)
def update_plan(
    items: Annotated[list[PlanItem], Field(min_length=1, max_length=50)],
    reason: Annotated[str, Field(min_length=1, max_length=500)],
) -> dict[str, list[dict[str, str]]]:
    """Replace the plan when it no longer fits, or mark items as done or dropped.

    Give all items in order, the finished ones too, and the reason for the change.
    """
    return {"plan": [item.model_dump() for item in items]}
