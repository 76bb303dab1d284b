"""System checks: a wrong deployment is told at the start, with an id and a hint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.checks import Warning as Told
from django.http.request import validate_host

from agentops import env

HERE = frozenset({"localhost", "127.0.0.1", "[::1]", ".localhost"})
OURS, OF_TESTS = "AGENTOPS_", "AGENTOPS_TEST_"
PROVIDERS = ("demo", "openai")
SYNCHRONOUS_FULL = "synchronous=full"


@register()
def check_databases(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> list[CheckMessage]:
    """The settings only; no connection is opened."""
    return [
        message
        for alias, database in settings.DATABASES.items()
        for message in check_database(alias, database)
    ]


def check_database(alias: str, database: Mapping[str, Any]) -> Iterator[CheckMessage]:
    options = database.get("OPTIONS", {})
    if database.get("ATOMIC_REQUESTS"):
        yield Error(
            f"ATOMIC_REQUESTS is on for the database {alias!r}.",
            hint="Turn it off: services own their transactions.",
            id="agentops.E001",
        )
    if options.get("pool"):
        yield Error(
            f"The database {alias!r} uses Django's connection pool.",
            hint="Remove OPTIONS['pool']: a pool does not survive the worker's fork.",
            id="agentops.E002",
        )
    if database["ENGINE"].endswith("sqlite3"):
        yield from _check_sqlite(alias, options)


def _check_sqlite(alias: str, options: Mapping[str, Any]) -> Iterator[CheckMessage]:
    if options.get("transaction_mode") != "IMMEDIATE":
        yield Error(
            f"The SQLite database {alias!r} does not begin transactions IMMEDIATE.",
            hint="Set OPTIONS['transaction_mode'] to 'IMMEDIATE'.",
            id="agentops.E003",
        )
    pragmas = str(options.get("init_command", "")).replace(" ", "").lower()
    if "journal_mode=wal" not in pragmas:
        yield Error(
            f"The SQLite database {alias!r} does not use its write-ahead log.",
            hint="Put PRAGMA journal_mode=WAL into OPTIONS['init_command'].",
            id="agentops.E004",
        )
    if SYNCHRONOUS_FULL not in pragmas:
        yield Error(
            f"The SQLite database {alias!r} may lose committed rows.",
            hint="Put PRAGMA synchronous=FULL into OPTIONS['init_command'].",
            id="agentops.E005",
        )


@register()
def check_queue(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> Iterator[CheckMessage]:
    queue: Mapping[str, Any] = settings.Q_CLUSTER
    timeout, retry = queue.get("timeout"), queue.get("retry", 60)
    longest = max(timeout or 0, settings.AGENTOPS.drive_timeout_s)
    if not timeout or longest >= retry:
        yield Error(
            "Q_CLUSTER's timeout must be set, and its retry longer than it and than"
            f" a driver may take ({settings.AGENTOPS.drive_timeout_s} s).",
            hint="Else a task that still runs is handed out a second time.",
            id="agentops.E006",
        )
    if queue.get("max_attempts", 0) < 1:
        yield Error(
            "Q_CLUSTER's max_attempts must be at least 1.",
            hint="0 means that a failing task is repeated for ever.",
            id="agentops.E007",
        )
    if queue.get("orm") not in settings.DATABASES:
        yield Error(
            "Q_CLUSTER's orm must name one of DATABASES.",
            hint="Only that broker enqueues in the transaction of the caller.",
            id="agentops.E008",
        )


@register()
def check_provider(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> Iterator[CheckMessage]:
    provider = settings.AGENTOPS_PROVIDER
    if provider not in PROVIDERS:
        yield Error(
            f"AGENTOPS_PROVIDER names an unknown provider, {provider!r}.",
            hint="Known are: " + ", ".join(PROVIDERS) + ".",
            id="agentops.E009",
        )
    if provider == "openai" and not settings.OPENAI_API_KEY:
        yield Error(
            "AGENTOPS_PROVIDER is 'openai', but OPENAI_API_KEY is not set.",
            hint="A local endpoint that wants no key takes any word.",
            id="agentops.E010",
        )


@register()
def check_product(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> Iterator[CheckMessage]:
    product = settings.AGENTOPS
    if product.heartbeat_s * 2 > product.lease_s:
        yield Error(
            "AGENTOPS_HEARTBEAT_S must be at most half of AGENTOPS_LEASE_S.",
            hint="One late heartbeat must not lose a lease.",
            id="agentops.E011",
        )
    if product.backoff_base_s > product.backoff_cap_s:
        yield Error(
            "AGENTOPS_BACKOFF_BASE_S must not be above AGENTOPS_BACKOFF_CAP_S.",
            id="agentops.E012",
        )


@register()
def check_names(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> Iterator[CheckMessage]:
    for name in env.unknown(OURS):
        if not name.startswith(OF_TESTS):
            yield Told(
                f"{name} is set, but there is no such setting.",
                hint="docs/settings.md lists them all.",
                id="agentops.W001",
            )


@register()
def check_what_is_for_one_host(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> Iterator[CheckMessage]:
    """What lets anybody in, or shows them everything, never stands on a site."""
    if settings.DEBUG and settings.HTTPS:
        yield Error(
            "DEBUG is on together with AGENTOPS_HTTPS.",
            hint="Its pages of errors show strangers what the memory holds.",
            id="agentops.E013",
        )
    if settings.AGENTOPS_DEMO and settings.HTTPS:
        yield Error(
            "AGENTOPS_DEMO is on together with AGENTOPS_HTTPS.",
            hint="The demo lets anybody in without a password. Remove it.",
            id="agentops.E014",
        )


@register(Tags.security, deploy=True)
def check_site(
    app_configs: Sequence[AppConfig] | None, **kwargs: Any
) -> Iterator[CheckMessage]:
    """Beside Django's own: what a site should not be run with."""
    hosts = set(settings.ALLOWED_HOSTS)
    if "*" in hosts:
        yield Told(
            "ALLOWED_HOSTS has '*': any name is answered to.",
            hint="Name the hosts of the site.",
            id="agentops.W002",
        )
    if hosts - HERE and not settings.HTTPS:
        yield Told(
            "ALLOWED_HOSTS names more than this host, but AGENTOPS_HTTPS is off.",
            hint="Passwords and sessions can be read on their way.",
            id="agentops.W003",
        )
    if hosts - HERE and (settings.DEBUG or settings.AGENTOPS_DEMO):
        yield Told(
            "DEBUG or AGENTOPS_DEMO is on, and ALLOWED_HOSTS names more than this host.",
            hint="Both are for one person on one machine.",
            id="agentops.W004",
        )
    if settings.BEHIND_PROXY and not settings.HTTPS:
        yield Told(
            "AGENTOPS_BEHIND_PROXY is on, but AGENTOPS_HTTPS is off.",
            hint="Without a proxy before us anybody can write the headers it trusts.",
            id="agentops.W005",
        )
    yield from _check_base_url(settings.AGENTOPS.base_url)


def _check_base_url(base_url: str) -> Iterator[CheckMessage]:
    ours = urlsplit(base_url)
    is_known = validate_host(ours.hostname or "", settings.ALLOWED_HOSTS)
    if not is_known or (settings.HTTPS and ours.scheme != "https"):
        yield Told(
            f"AGENTOPS_BASE_URL is {base_url}, where the site does not answer.",
            hint="Links in mails begin with it, those to reset a password too.",
            id="agentops.W006",
        )
