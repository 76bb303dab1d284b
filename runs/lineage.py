"""Is this database older than it was when a worker of this host last saw it?

With each beat of a worker the database's mark grows by one, and afterwards the host
writes it into a file of its folder. So the file is never ahead of the database, unless
the database went back: a backup was restored, or a standby took over that had not got
all. `restored` begins a new history under a new name, of which no file knows yet.

The file keeps the last mark of each history it has seen. A folder that is new, or that
saw other databases only, knows nothing of this one and says nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from pathlib import Path

from django.conf import settings
from django.db.models import F, QuerySet

from agentops import clock
from runs.models import Lineage

FILE = "lineage"
KEPT = 20
ROW = 1
WARNING = (
    "this database is older than it was when a worker of this host last saw it, and"
    " nobody has run `manage.py restored`: what was done since may be done again. Stop"
    " the workers, run it, and start them."
)


def beat() -> bool:
    """Go one mark further, or find that the database went back; True if it did.

    Once it is found the row says so, for every host, until `begin_anew`. To be called
    outside a transaction: the file is written when the mark is committed.
    """
    row, _ = Lineage.objects.get_or_create(pk=ROW)
    seen = _read()
    if seen.get(str(row.name), 0) > row.mark:
        here = Lineage.objects.filter(pk=ROW, name=row.name, overtaken_at=None)
        here.update(overtaken_at=clock.now())
        return True
    as_it_was = Lineage.objects.filter(pk=ROW, name=row.name)
    if row.overtaken_at is None and as_it_was.update(mark=F("mark") + 1):
        _write(seen, str(row.name), row.mark + 1)
    return row.overtaken_at is not None


def overtaken() -> QuerySet[Lineage]:
    """The row, if this database went back and nobody has said so."""
    return Lineage.objects.filter(overtaken_at__isnull=False)


def is_overtaken() -> bool:
    """One query."""
    return overtaken().exists()


def begin_anew() -> None:
    """From here on this is another history than the one that was gone back from."""
    fields = {"name": uuid.uuid4(), "overtaken_at": None}
    Lineage.objects.update_or_create(pk=ROW, defaults=fields)


def _read() -> dict[str, int]:
    """The last mark of each history; nothing where the file is missing or broken."""
    try:
        found = json.loads(_path().read_text(encoding="ascii"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: mark for name, mark in found.items() if isinstance(mark, int)}


def _write(seen: dict[str, int], name: str, mark: int) -> None:
    """The newest history last. A disk that is full costs a mark, and no worker."""
    others = {known: at for known, at in seen.items() if known != name}
    kept = list(others.items())[1 - KEPT :]
    draft = _path().with_suffix(f".{os.getpid()}")
    with contextlib.suppress(OSError):
        draft.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps(dict([*kept, (name, mark)])), encoding="ascii")
        draft.replace(_path())


def _path() -> Path:
    return Path(settings.VAR_DIR) / FILE
