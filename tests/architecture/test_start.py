"""What starts quickly: a process loads the model's SDK only if it asks a model."""

from __future__ import annotations

import subprocess
import sys

import pytest

WEB = """
import sys, django
django.setup()
import agentops.urls
"""


@pytest.mark.once
@pytest.mark.parametrize(("more", "loaded"), [("", False), ("forks", True)])
def test_the_sdk_is_loaded_by_workers_alone(more: str, loaded: bool) -> None:
    lines = [WEB, "from runs import llm; llm.before_forking()" if more else ""]
    code = "\n".join([*lines, "print('openai' in sys.modules)"])

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == str(loaded)
