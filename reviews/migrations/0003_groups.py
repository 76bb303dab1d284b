"""The three groups and what each may do."""

from __future__ import annotations

from django.apps import apps as installed
from django.apps.registry import Apps
from django.contrib.auth.management import create_permissions
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

SUBMITTER = ["runs.submit_run", "runs.view_run"]
OPERATOR = [
    *SUBMITTER,
    "reviews.decide_review",
    "reviews.view_review",
    "reviews.view_decision",
]
ADMIN_APPS = ["runs", "reviews", "auth"]
GROUPS = ["submitters", "operators", "admins"]


def make_groups(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    for label in ADMIN_APPS:
        create_permissions(installed.get_app_config(label), verbosity=0)
    group = apps.get_model("auth", "Group").objects
    permission = apps.get_model("auth", "Permission").objects
    for name, granted in (("submitters", SUBMITTER), ("operators", OPERATOR)):
        made, _ = group.get_or_create(name=name)
        for label, codename in (text.split(".") for text in granted):
            made.permissions.add(
                permission.get(content_type__app_label=label, codename=codename)
            )
    admins, _ = group.get_or_create(name="admins")
    admins.permissions.set(permission.filter(content_type__app_label__in=ADMIN_APPS))


def drop_groups(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    apps.get_model("auth", "Group").objects.filter(name__in=GROUPS).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("reviews", "0002_initial"),
        ("runs", "0002_guards"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [migrations.RunPython(make_groups, drop_groups)]
