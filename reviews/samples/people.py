"""The three sample sign-ins of the demo, one of each kind."""

from __future__ import annotations

import secrets
from pathlib import Path

from django.contrib.auth.models import Group, User
from django.db import transaction

SIGN_INS = {"submitter": "submitters", "operator": "operators", "admin": "admins"}
KEPT_IN = "demo_password"
SMOKE = "smoke-"
"""How the names of the smoke test's people begin."""


def install_people(password: str) -> list[User]:
    """Make those that are missing; those there are keep their passwords."""
    with transaction.atomic():
        return [_person(name, group, password) for name, group in SIGN_INS.items()]


def is_of_somebody(folder: Path) -> bool:
    """Are there people in the database that no command of ours has made?"""
    others = User.objects.exclude(username__startswith=SMOKE)
    return not (folder / KEPT_IN).exists() and others.exists()


def password_of(folder: Path) -> str:
    """The password of the sample sign-ins, made once and kept for the owner only."""
    path = folder / KEPT_IN
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(9), encoding="ascii")
    return path.read_text(encoding="ascii").strip()


def _person(name: str, group: str, password: str) -> User:
    known = User.objects.filter(username=name).first()
    if known is not None:
        return known
    user = User.objects.create_user(
        name, f"{name}@example.com", password, is_staff=group == "admins"
    )
    user.groups.add(Group.objects.get(name=group))
    return user
