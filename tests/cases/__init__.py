"""What broke agent loops elsewhere, row by row: test names begin with the row's id."""

from __future__ import annotations
