"""Random histories of runs, against a simple model of what may happen.

Faults that were planted, and after how many histories of `make fuzz` each was found
on SQLite, at one seed:

    the ledger's answer ignored in `begin`                        7
    a tool that can tell of its act not asked                     4
    what it told ignored                                         11
    "not happened" believed of a driver that lives               14
    the ledger overwritten by "it did not happen"                13
    no sequence in the fence of a commit                          4
    a tool switched off not looked at in `begin`                  8
    the confidence of a check not compared                        4
    nothing reserved before a call of a model                     2
    a try not counted on a retry                                  4
    claims not counted, so that no run becomes a suspect          9
    an expired item decided, its timer being late                 7
    the version of an item not compared                           4
    an item decided that another person holds                     8
    undo after the decision took effect                           6
    the step that was planned on a decision left after its undo   4
    a call made in the window in which it can be taken back       4

What it does not see: two connections at one row (`tests/races`), processes and their
signals (`tests/crashes`), pages, and the other tools than its five.
"""

from __future__ import annotations

FUZZ_MINUTES = "AGENTOPS_TEST_FUZZ_MINUTES"
FUZZ_SEED = "AGENTOPS_TEST_FUZZ_SEED"
"""What `python -m tests.model` tells the test."""
