"""Committed files name no machine's paths and no package registry."""

from __future__ import annotations

import re

import pytest

from tests.architecture.source import ROOT, committed

pytestmark = pytest.mark.once

# Put together here, so that this file is none of those it looks for.
FORBIDDEN = re.compile(
    "|".join(
        [
            r"(?<![\w.>}])/(?:" + "|".join(["work", "root", "Users"]) + r")/\w",
            r"/opt/" + "pypi",
            "--(?:extra-)?" + "index-url",
            "--" + "find-links",
            "pypi" + r"\.org",
            "files.python" + "hosted",
            "registry.npm" + "js",
        ]
    )
)


def test_no_machine_path_and_no_registry_address():
    if not committed():
        pytest.skip("not a git checkout: nothing says which files are committed")

    found = [
        f"{path}:{number}: {line.strip()[:100]}"
        for path in committed()
        for number, line in enumerate(_text(path).splitlines(), 1)
        if FORBIDDEN.search(line)
    ]

    assert found == []


def _text(path: str) -> str:
    try:
        return (ROOT / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""
