"""What the database itself holds up: versions stay as they are, steps stay cheap."""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

POSTGRESQL = [
    """
    CREATE FUNCTION runs_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'a row of % is never changed', TG_TABLE_NAME; END $$
    """,
    """
    CREATE TRIGGER agent_version_immutable BEFORE UPDATE OR DELETE
    ON runs_agentversion FOR EACH ROW EXECUTE FUNCTION runs_refuse_change()
    """,
    # Room on the page for the next version of the row: a step's update of its run
    # then touches no index (heap-only).
    "ALTER TABLE runs_run SET (fillfactor = 60)",
    "ALTER TABLE runs_step SET (fillfactor = 85)",
]
SQLITE = [
    """
    CREATE TRIGGER agent_version_no_update BEFORE UPDATE ON runs_agentversion
    BEGIN SELECT RAISE(ABORT, 'a row of runs_agentversion is never changed'); END
    """,
    """
    CREATE TRIGGER agent_version_no_delete BEFORE DELETE ON runs_agentversion
    BEGIN SELECT RAISE(ABORT, 'a row of runs_agentversion is never changed'); END
    """,
]
POSTGRESQL_UNDO = [
    "DROP TRIGGER agent_version_immutable ON runs_agentversion",
    "DROP FUNCTION runs_refuse_change()",
    "ALTER TABLE runs_run RESET (fillfactor)",
    "ALTER TABLE runs_step RESET (fillfactor)",
]
SQLITE_UNDO = [
    "DROP TRIGGER agent_version_no_update",
    "DROP TRIGGER agent_version_no_delete",
]


def guard(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    _run(editor, {"postgresql": POSTGRESQL, "sqlite": SQLITE})


def unguard(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    _run(editor, {"postgresql": POSTGRESQL_UNDO, "sqlite": SQLITE_UNDO})


def _run(editor: BaseDatabaseSchemaEditor, statements: dict[str, list[str]]) -> None:
    for statement in statements.get(editor.connection.vendor, []):
        editor.execute(statement, params=None)


class Migration(migrations.Migration):
    dependencies = [("runs", "0001_initial")]

    operations = [migrations.RunPython(guard, unguard)]
