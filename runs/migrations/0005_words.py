"""What lists find runs by: marks for those that are there, and an index of words."""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Exists, F, OuterRef, Q

FINAL = ["completed", "error", "aborted"]
BAD = ["failed", "outcome_unknown"]

# A function of our own, because it can say that it is dear: PostgreSQL takes its own
# to_tsvector for cheap and would rather make the words of every row than use the index;
# and so it would with several processes.
WORDS = """
CREATE FUNCTION agentops_words(text) RETURNS tsvector LANGUAGE plpgsql
IMMUTABLE STRICT PARALLEL RESTRICTED COST 20000 AS $$
BEGIN
  RETURN pg_catalog.to_tsvector('pg_catalog.simple'::regconfig,
    pg_catalog.translate($1, '@._-/:=+', '        '));
END $$
"""


def mark(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    runs = apps.get_model("runs", "Run").objects
    steps = apps.get_model("runs", "Step").objects
    bad = steps.filter(run=OuterRef("pk"), status__in=BAD)
    runs.filter(state__in=FINAL).update(outcome=F("state"))
    runs.filter(Q(state="error") | Q(Exists(bad))).update(had_error=True)


def add(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        # The rows just marked have checks of foreign keys to come, and PostgreSQL
        # indexes no table before they are made.
        editor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        editor.execute(WORDS, params=None)
        editor.execute(
            "CREATE INDEX run_words ON runs_run USING gin (agentops_words(search_text))"
        )
        editor.execute("ANALYZE runs_run")  # how common a word is


def drop(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute("DROP INDEX IF EXISTS run_words")
        editor.execute("DROP FUNCTION IF EXISTS agentops_words(text)")


class Migration(migrations.Migration):
    dependencies = [("runs", "0004_lists")]

    operations = [
        migrations.RunPython(mark, migrations.RunPython.noop),
        migrations.RunPython(add, drop),
    ]
