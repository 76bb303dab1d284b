"""Every review is of its run's agent."""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import OuterRef, Subquery


def fill(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    runs = apps.get_model("runs", "Run").objects.filter(pk=OuterRef("run_id"))
    reviews = apps.get_model("reviews", "Review").objects.filter(agent__isnull=True)
    reviews.update(agent_id=Subquery(runs.values("agent_id")[:1]))


class Migration(migrations.Migration):
    dependencies = [("reviews", "0007_agent")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
