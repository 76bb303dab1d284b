"""New random histories for so many minutes: `python -m tests.model --minutes 30`."""

from __future__ import annotations

import argparse
import os
import sys

import pytest

from tests.model import FUZZ_MINUTES, FUZZ_SEED
from tests.support import databases

MINUTES = 10.0


def main() -> int:
    wanted = _arguments()
    os.environ[FUZZ_MINUTES] = str(wanted.minutes)
    if wanted.seed is not None:
        os.environ[FUZZ_SEED] = str(wanted.seed)
    no_limit = ("-o", "faulthandler_timeout=0")
    return pytest.main(
        ["tests/model", "--db", wanted.db, "--show-capture=no", *no_limit]
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make fuzz ARGS=…")
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--seed", type=int, help="the first, as a run has told it")
    parser.add_argument("--db", choices=databases.KINDS, default="sqlite")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
