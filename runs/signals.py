"""The one signal by which runs tell what is above them."""

from __future__ import annotations

from django.dispatch import Signal

run_changed = Signal()
"""Sent with `run` (the row, read when first looked at) and `change` (a `RunChange`).

Plain `send`, inside the transaction that changes the run: receivers write rows and
do nothing else, and what they raise rolls the change back.
"""
