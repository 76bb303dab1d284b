"""An index of the words by which reviews are found, where the database has such."""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def add(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute(
            "CREATE INDEX review_words ON reviews_review"
            " USING gin (agentops_words(search_text))"
        )
        editor.execute("ANALYZE reviews_review")  # how common a word is


def drop(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute("DROP INDEX IF EXISTS review_words")


class Migration(migrations.Migration):
    dependencies = [("reviews", "0009_agent_required"), ("runs", "0005_words")]

    operations = [migrations.RunPython(add, drop)]
