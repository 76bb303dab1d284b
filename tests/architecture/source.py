"""The project's own source, parsed, for the rules about it."""

from __future__ import annotations

import ast
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("agentops", "runs", "reviews", "tests")


@dataclass(frozen=True)
class Module:
    path: str
    text: str

    @property
    def tree(self) -> ast.Module:
        return parsed(self.path)

    @property
    def package(self) -> str:
        return self.path.split("/")[0]


@cache
def parsed(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text(), path)


@cache
def modules() -> list[Module]:
    """Every Python module of the project, migrations left out."""
    files = [ROOT / "manage.py"]
    files += [path for name in PACKAGES for path in sorted((ROOT / name).rglob("*.py"))]
    return [
        Module(str(path.relative_to(ROOT)), path.read_text())
        for path in files
        if "migrations" not in path.parts
    ]


@cache
def committed() -> list[str]:
    """The paths that git knows or would add; empty outside a checkout."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return [path for path in listed.stdout.splitlines() if (ROOT / path).is_file()]
