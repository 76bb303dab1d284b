"""What reviews from before have in the new columns, and who may see the new rows."""

from __future__ import annotations

from django.apps import apps as installed
from django.apps.registry import Apps
from django.contrib.auth.management import create_permissions
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import F


def fill(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    reviews = apps.get_model("reviews", "Review").objects
    reviews.filter(rank_at__isnull=True).update(rank_at=F("due_at"))
    with_call = reviews.exclude(proposal={}).only("pk", "proposal")
    for review in with_call.iterator():
        tool = review.proposal.get("tool", "")
        reviews.filter(pk=review.pk).update(tool=tool)


def grant(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    for label in ("runs", "reviews"):
        create_permissions(installed.get_app_config(label), verbosity=0)
    permission = apps.get_model("auth", "Permission").objects
    admins, _ = apps.get_model("auth", "Group").objects.get_or_create(name="admins")
    admins.permissions.add(
        *permission.filter(content_type__app_label__in=["runs", "reviews"])
    )


def nothing(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Going back drops the columns; the rights are kept."""


class Migration(migrations.Migration):
    dependencies = [("reviews", "0004_desk"), ("runs", "0003_desk")]

    operations = [
        migrations.RunPython(fill, nothing),
        migrations.RunPython(grant, nothing),
    ]
