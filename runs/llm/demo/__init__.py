"""The demo model: plays the sample agents offline, through the same SDK client.

A transport below `OpenAIClient` answers each request from its messages alone: what
the tools returned, what the form said, what people decided. The one exception is
the status agent's outage, which counts the tries of a conversation.
"""

from __future__ import annotations

from runs.llm.demo.transport import LABEL, DemoTransport
from runs.llm.openai import OpenAIClient

BASE_URL = "http://demo-model.invalid/v1"


def client(latency_s: float = 0.0) -> OpenAIClient:
    """A client of the demo model that takes about `latency_s` for each answer."""
    return OpenAIClient(BASE_URL, "", DemoTransport(latency_s), LABEL)


__all__ = ["LABEL", "DemoTransport", "client"]
