"""Where the values of a call come from: what the model had read, and marks for it.

`sources` gathers from the rows; `marks`, `texts`, `figures` and `notes` are pure.
"""

from __future__ import annotations
