"""The sample database: what the sample agents read. Small, made up, and fixed."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dj_database_url
import psycopg
from psycopg import sql

Cell = str | int


@dataclass(frozen=True)
class Table:
    """`columns` maps names to SQL types that both databases know."""

    columns: Mapping[str, str]
    rows: Sequence[Sequence[Cell]]


def _months(region: str, first: str, figures: Sequence[int]) -> list[Sequence[Cell]]:
    year, month = map(int, first.split("-"))
    return [
        (f"{year}-{month + place:02}", region, figure)
        for place, figure in enumerate(figures)
    ]


MONTHLY_REVENUE = Table(
    {"month": "TEXT", "region": "TEXT", "revenue": "INTEGER"},
    [
        *_months("North America", "2024-04", [1_105_000, 1_160_000, 1_198_000]),
        *_months("North America", "2024-07", [1_250_000, 1_380_000, 1_895_000]),
        *_months("North America", "2024-10", [1_910_000, 1_985_000, 2_140_000]),
        *_months("Europe", "2024-04", [802_000, 818_000, 835_000]),
        *_months("Europe", "2024-07", [840_000, 872_000, 905_000]),
        *_months("Europe", "2024-10", [921_000, 1_240_000, 1_262_000]),
        *_months("Asia Pacific", "2024-04", [430_000, 455_000, 471_000]),
        *_months("Asia Pacific", "2024-07", [488_000, 502_000, 531_000]),
        *_months("Asia Pacific", "2024-10", [540_000, 548_000, 590_000]),
    ],
)
CONTRACTS = Table(
    {
        "id": "INTEGER",
        "vendor": "TEXT",
        "title": "TEXT",
        "signed": "TEXT",
        "ends": "TEXT",
        "notice_days": "INTEGER",
        "yearly_value": "INTEGER",
    },
    [
        (
            1,
            "Northwind Analytics",
            "Data platform licence",
            "2022-03-01",
            "2025-02-28",
            90,
            48_000,
        ),
        (
            2,
            "Northwind Analytics",
            "Consulting frame agreement",
            "2023-06-15",
            "2026-06-14",
            30,
            120_000,
        ),
        (
            3,
            "Harbour Hosting",
            "Managed hosting",
            "2021-11-01",
            "2024-12-31",
            60,
            9_600,
        ),
    ],
)
SERVICE_CHECKS = Table(
    {
        "service": "TEXT",
        "checked_at": "TEXT",
        "status": "TEXT",
        "latency_ms": "INTEGER",
    },
    [
        ("billing", "2024-10-01 08:00", "up", 84),
        ("billing", "2024-10-01 08:05", "degraded", 1_420),
        ("billing", "2024-10-01 08:10", "up", 96),
        ("search", "2024-10-01 08:00", "up", 41),
        ("search", "2024-10-01 08:05", "up", 44),
        ("search", "2024-10-01 08:10", "down", 30_000),
    ],
)
PAYMENTS = Table(
    {
        "id": "INTEGER",
        "paid_on": "TEXT",
        "payee": "TEXT",
        "invoice": "TEXT",
        "amount": "INTEGER",
    },
    [
        (1, "2024-08-06", "Harbour Hosting", "HH-0712", 800),
        (2, "2024-08-19", "Paper & Pen", "1043", 126),
        (3, "2024-09-04", "Northwind Analytics", "NA-2207", 12_000),
        (4, "2024-09-05", "Harbour Hosting", "HH-0744", 800),
        (5, "2024-09-18", "Northwind Analytics", "NA-2207", 12_000),
        (6, "2024-09-27", "Paper & Pen", "1066", 131),
    ],
)
TABLES: Mapping[str, Table] = {
    "monthly_revenue": MONTHLY_REVENUE,
    "contracts": CONTRACTS,
    "service_checks": SERVICE_CHECKS,
    "payments": PAYMENTS,
}


def make(url: str, tables: Mapping[str, Table] = TABLES) -> None:
    """Make the tables where they are missing, filled; what is there stays as it is.

    `url` is that of a SQLite file (made with its folders) or of a PostgreSQL
    database. One transaction; made twice at once it is made once.
    """
    parts: dict[str, Any] = dict(dj_database_url.parse(url))
    if parts["ENGINE"].endswith("sqlite3"):
        _make_sqlite(Path(parts["NAME"]), tables)
    else:
        _make_postgres(url, tables)


def _make_sqlite(path: Path, tables: Mapping[str, Table]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, timeout=20, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        known = "SELECT name FROM sqlite_master WHERE type = 'table'"
        there = {name for (name,) in connection.execute(known)}
        for name in tables.keys() - there:
            columns, rows = tables[name].columns, tables[name].rows
            connection.execute(f'CREATE TABLE "{name}" ({_declared(columns)})')
            marks = ", ".join("?" * len(columns))
            connection.executemany(f'INSERT INTO "{name}" VALUES ({marks})', rows)  # noqa: S608 -- our own names
        connection.execute("COMMIT")


def _make_postgres(url: str, tables: Mapping[str, Table]) -> None:
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('agentops samples'))")
        for name, table in tables.items():
            found = cursor.execute("SELECT to_regclass(%s)", [name]).fetchone()
            if found and found[0]:
                continue
            declared = sql.SQL(_declared(table.columns))
            create = sql.SQL("CREATE TABLE {} ({})")
            cursor.execute(create.format(sql.Identifier(name), declared))
            marks = sql.SQL(", ").join(sql.Placeholder() * len(table.columns))
            insert = sql.SQL("INSERT INTO {} VALUES ({})")
            cursor.executemany(
                insert.format(sql.Identifier(name), marks), [*table.rows]
            )


def _declared(columns: Mapping[str, str]) -> str:
    return ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
