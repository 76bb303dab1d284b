"""The crash matrix: kill -9 of every role and at every named point, again and again.

    python -m tests.crashes.matrix --kills 500 --seed 7 --db postgres

`points` plays runs in children that die at the points of the step protocol; `roles`
kills the processes of a whole installation under load, and its database. What runs
do outside is counted by servers of `tests.support.outside`; `person` answers what
parks; `invariants` says what must hold; `tally` is the table.
"""

from __future__ import annotations
