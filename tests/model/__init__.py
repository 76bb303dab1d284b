"""Random histories of runs, against a simple model of what may happen."""

from __future__ import annotations

FUZZ_MINUTES = "AGENTOPS_TEST_FUZZ_MINUTES"
FUZZ_SEED = "AGENTOPS_TEST_FUZZ_SEED"
"""What `python -m tests.model` tells the test."""
