"""The secret key of an embedded installation, made once and kept in a file."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

NAME = "secret_key"


def key_in(folder: Path) -> str:
    """Read the key kept in `folder`, making it first if there is none.

    Two processes that start at once agree: the file appears complete or not
    at all, and the one that comes second reads what the first wrote.
    """
    path = folder / NAME
    try:
        return path.read_text(encoding="ascii").strip() or _make(path)
    except FileNotFoundError:
        return _make(path)
    except OSError as error:
        raise ImproperlyConfigured(_unusable(path, error)) from error


def _make(path: Path) -> str:
    draft = path.with_name(f"{NAME}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(50))
        _publish(draft, path)
        return path.read_text(encoding="ascii").strip()
    except OSError as error:
        raise ImproperlyConfigured(_unusable(path, error)) from error
    finally:
        draft.unlink(missing_ok=True)


def _publish(draft: Path, path: Path) -> None:
    if path.exists() and not path.read_text(encoding="ascii").strip():
        draft.replace(path)
        return
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        return


def _unusable(path: Path, error: OSError) -> str:
    return f"SECRET_KEY is not set and {path} cannot be used: {error.strerror}."
