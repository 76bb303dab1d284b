"""What broke agent loops elsewhere: test names begin with the id of the case.

CONTRIBUTING.md says what the letters stand for.
"""

from __future__ import annotations
