"""The words of a review, stored: nothing writes to a review as often as to a run.

So any plan of PostgreSQL finds words quickly, also within the newest or the open ones,
where making them anew for each row would take longer than all the rest of the page.
"""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def store(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute("DROP INDEX review_words")
        editor.execute(
            "ALTER TABLE reviews_review ADD COLUMN words tsvector"
            " GENERATED ALWAYS AS (agentops_words(search_text)) STORED"
        )
        editor.execute("CREATE INDEX review_words ON reviews_review USING gin (words)")
        editor.execute("ANALYZE reviews_review")


def compute(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute("ALTER TABLE reviews_review DROP COLUMN words")
        editor.execute(
            "CREATE INDEX review_words ON reviews_review"
            " USING gin (agentops_words(search_text))"
        )


class Migration(migrations.Migration):
    dependencies = [("reviews", "0011_lists")]

    operations = [migrations.RunPython(store, compute)]
