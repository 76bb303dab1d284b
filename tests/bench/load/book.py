"""What the people's process tells: each request, each decision, each trouble."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import asdict, dataclass, field


@dataclass
class Book:
    """`requests`: (what, seconds) of each since `open`; thread-safe.

    `decisions`: (review, person, kind) that the product said yes to, less those it let
    the person take back. `second`: how often somebody else had been faster.
    """

    requests: list[tuple[str, float]] = field(default_factory=list)
    decisions: list[tuple[str, str, str]] = field(default_factory=list)
    taken_back: int = 0
    second: int = 0
    troubles: list[str] = field(default_factory=list)
    cpu_s: float = 0.0

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._is_open = False

    def open(self) -> None:
        """From now on requests count; before, people only sign in."""
        self._is_open = True

    def request(self, what: str, began: float) -> None:
        if self._is_open:
            with self._lock:
                self.requests.append((what, time.perf_counter() - began))

    def decided(self, review: str, person: str, kind: str) -> None:
        with self._lock:
            self.decisions.append((review, person, kind))

    def took_back(self, review: str, person: str, kind: str) -> None:
        with self._lock:
            self.decisions.remove((review, person, kind))
            self.taken_back += 1

    def came_second(self) -> None:
        with self._lock:
            self.second += 1

    def trouble(self, text: str) -> None:
        with self._lock:
            self.troubles.append(text)

    def dumps(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def loads(cls, text: str) -> Book:
        return cls(**json.loads(text))
