"""What a statement may name, and what its log-in may do, on PostgreSQL.

The walls are the server's: a read-only transaction, the place of a sub-select, the
rights of the role. These look before anything is read that the walls are there (a
log-in that may write, or read files of the server, is none), and that no function is
called whose effects a read-only transaction does not hold back.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import psycopg

from runs.errors import Fatal, InvalidCall

OUR_TABLE = "runs_run"

# Functions with effects outside the transaction, that run SQL made from text, or that
# tell how the server is set up. Most are volatile too, and met below.
_REFUSED = re.compile(
    r"""\b(set_config|current_setting|setval|nextval|dblink\w*|crosstab\w*|connectby
    |xpath_table|ts_stat|ts_rewrite|loread|lowrite|\w+_to_xml\w*
    |lo_(?:import|export|creat|unlink|put|get|from_bytea|open|trunc)\w*
    |pg_(?:notify|promote|switch_wal|settings|db_role_setting|show_all|foreign_server
    |read|ls|stat_file|file|terminate|cancel|reload|rotate|advisory|try_advisory
    |logical|create|drop|wal_replay|stat_reset|replication|copy|export|import|backup
    |start_backup|stop_backup|log_|authid|shadow|hba|ident_file|user_mapping)\w*)\b
    |\bu&["']""",
    re.IGNORECASE | re.VERBOSE,
)
_NAME = r"[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_$\x80-\U0010ffff]*+"
_WORD = re.compile(_NAME)
# A comment may stand between a function's name and its parenthesis.
_OPENS = ("(", "/*", "--")
_CALLED = re.compile(rf"(?<![\w$]){_NAME}(?=\s*+(?:\(|/\*|--))")
_HARMLESS_NAMES = """
    array_sample array_shuffle bernoulli clock_timestamp current_query currval
    gen_random_uuid lastval pg_database_size pg_indexes_size pg_is_in_recovery
    pg_relation_size pg_sleep pg_sleep_for pg_sleep_until pg_table_size
    pg_total_relation_size random random_normal setseed system timeofday uuidv4 uuidv7
"""
_HARMLESS = _HARMLESS_NAMES.split()
_VOLATILE = """
SELECT p.proname FROM pg_catalog.pg_proc p
WHERE p.provolatile = 'v'
AND (p.proname = ANY(%s::name[]) OR p.proname = ANY(%s::name[]) AND p.pronargs = 1
     AND EXISTS (SELECT 1 FROM pg_catalog.pg_type t
                 WHERE t.oid = p.proargtypes[0] AND t.typtype = 'c'))
AND p.prorettype <> 'pg_catalog.trigger'::pg_catalog.regtype
AND NOT (p.pronamespace = 'pg_catalog'::pg_catalog.regnamespace
         AND p.proname = ANY(%s::name[]))
LIMIT 1
"""
# Of whoever logged in, too: a role that was put on can be taken off.
_POWERS = """
WITH me AS (SELECT * FROM pg_catalog.pg_roles WHERE rolname IN (session_user, current_user)),
files AS (SELECT * FROM pg_catalog.pg_roles WHERE rolname IN ('pg_read_server_files',
  'pg_write_server_files', 'pg_execute_server_program', 'pg_signal_backend')),
there AS (SELECT c.*, c.oid::pg_catalog.regclass::text AS name
  FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND c.relnamespace NOT IN (SELECT n.oid FROM pg_catalog.pg_namespace n
    WHERE n.nspname IN ('pg_catalog', 'information_schema')))
SELECT
(SELECT me.rolname FROM me WHERE me.rolsuper OR me.rolreplication OR EXISTS (
  SELECT 1 FROM files WHERE pg_catalog.pg_has_role(me.oid, files.oid, 'MEMBER')) LIMIT 1),
(SELECT there.name FROM me, there, there AS ours
  WHERE ours.relname = %(ours)s AND ours.relnamespace = there.relnamespace
  AND (there.relname IN ('auth_user', 'django_session')
    OR there.relname ~ '^(runs|reviews|django_q)_')
  AND pg_catalog.has_any_column_privilege(me.oid, there.oid, 'SELECT') LIMIT 1),
(SELECT there.name FROM me, there WHERE NOT %(may_write)s
  AND NOT pg_catalog.pg_is_in_recovery() AND (
    pg_catalog.has_table_privilege(me.oid, there.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
    OR pg_catalog.has_any_column_privilege(me.oid, there.oid, 'INSERT, UPDATE')) LIMIT 1)
"""


def refuse_words(sql: str) -> None:
    """Raises `InvalidCall` for a name that is not to be written at all."""
    refused = _REFUSED.search(sql)
    if refused:
        raise InvalidCall(f"{refused[0]} is not allowed here.")


def refuse_volatile(cursor: psycopg.Cursor[Any], sql: str) -> None:
    """Raises `InvalidCall` for a call of a function that may do more than read.

    A function says so of itself: VOLATILE, which is also what one is that says
    nothing. What looks like a call inside a text or a comment counts; and one of a
    row (`orders.refund` for `refund(orders)`) looks like any name.
    """
    cursor.execute(_VOLATILE, [called(sql), named(sql), _HARMLESS])
    found = cursor.fetchone()
    if found:
        raise InvalidCall(
            f"{found[0]} is not allowed here: only functions that are STABLE or"
            " IMMUTABLE."
        )


def called(sql: str) -> list[str]:
    """Every name that may be one of a function that is called; too many, if in doubt."""
    pieces = sql.split('"')
    quoted = {
        name for name, after in pairwise(pieces) if after.lstrip().startswith(_OPENS)
    }
    return sorted(quoted | {name.lower() for name in _CALLED.findall(sql)})


def named(sql: str) -> list[str]:
    """Every name there is in the statement, and more."""
    return sorted({*sql.split('"'), *_WORD.findall(sql.lower())})


def refuse_powers(cursor: psycopg.Cursor[Any], *, may_write: bool) -> None:
    """Raises `Fatal` for a log-in or role that can do more than read what it should.

    `may_write`: an admin has said that the log-in may have rights to write.
    """
    cursor.execute(_POWERS, {"ours": OUR_TABLE, "may_write": may_write})
    power, ours, writable = cursor.fetchone() or (None, None, None)
    if power:
        raise Fatal(f"query_database does not read as {power}: it rules the server.")
    if ours:
        raise Fatal(f"query_database does not read {ours}: it is the product's own.")
    if writable:
        raise Fatal(
            f"query_database needs a log-in that may only read: this one may write to"
            f' {writable}. (Or set "may_write".)'
        )
