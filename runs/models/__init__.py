"""The rows of runs; import them from here."""

from __future__ import annotations

from runs.models.agent import Agent, AgentVersion
from runs.models.blob import Blob
from runs.models.effect import Effect
from runs.models.guidance import Guidance
from runs.models.lineage import Lineage
from runs.models.run import Driver, Run
from runs.models.step import Attempt, Step
from runs.models.tool import Price, Tool
from runs.models.transition import Transition

__all__ = [
    "Agent",
    "AgentVersion",
    "Attempt",
    "Blob",
    "Driver",
    "Effect",
    "Guidance",
    "Lineage",
    "Price",
    "Run",
    "Step",
    "Tool",
    "Transition",
]
