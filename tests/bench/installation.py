"""The product on a PostgreSQL of its own, with one agent that looks things up.

    with database() as url:
        prepare(url)
        by, agent = person(), agent()

Django is set up with the product's own settings; nothing is patched. The server is
that of DATABASE_URL if it names one, else one that is started for the block.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from tests.support.databases import postgres_url

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from runs.models import Agent, Run

MODEL = "stub"
TASK = "Which of the records in the ledger disagree, and why? Quote each value."
PROMPT = (
    "You are a careful research assistant. Look every record up before you answer, one"
    " at a time, and never guess a value that the tool can tell you. "
) * 3
LIMITS = {"steps": 10_000, "seconds": 86_400, "tokens": 100_000_000, "money": "1000"}


@contextlib.contextmanager
def database() -> Iterator[str]:
    """A fresh PostgreSQL database for the block; its URL."""
    import psycopg

    name = f"bench_{secrets.token_hex(4)}"
    with postgres_url() as server:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        try:
            yield urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
        finally:
            with psycopg.connect(server, autocommit=True) as connection:
                gone = f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'
                connection.execute(gone.encode())


def environment(url: str, folder: str, **more: str) -> dict[str, str]:
    """What the product is told; budgets and numbers stay as shipped."""
    return {
        "DJANGO_SETTINGS_MODULE": "tests.bench.settings",
        "DATABASE_URL": url,
        "SECRET_KEY": "of-a-bench",
        "AGENTOPS_VAR": folder,
        "AGENTOPS_PROVIDER": "openai",
        "AGENTOPS_LOG_LEVEL": "WARNING",
        "OPENAI_API_KEY": "sk-bench-only",
        "OPENAI_MODEL": MODEL,
        "OPENAI_CHECK_MODEL": MODEL,
        "EMAIL_FILE_PATH": f"{folder}/mail",
        **more,
    }


def prepare(url: str, folder: str = "", **more: str) -> None:
    """Set Django up in this process and migrate the database."""
    import django
    from django.core.management import call_command

    folder = folder or tempfile.mkdtemp(prefix="agentops-bench-")
    os.environ.update(environment(url, folder, **more))
    django.setup()
    call_command("migrate", verbosity=0)


def person() -> User:
    from django.contrib.auth.models import User

    return User.objects.create_superuser("submitter")


def agent() -> Agent:
    """An agent without a plan that may call `lookup`; its model has a price."""
    from runs.models import Agent, Price

    Price.objects.create(model=MODEL, input=1, output=2)
    return Agent.objects.create(
        slug="clerk",
        name="Clerk",
        prompt=PROMPT,
        plan_first=False,
        grants={"lookup": {"policy": "auto"}},
    )


def start(agent: Agent, by: User) -> Run:
    """Submit one run, as the form does, under all four budgets."""
    from runs.services import start

    return start(agent=agent, by=by, task=TASK, limits=LIMITS)
