"""What tells a database from an older copy of it."""

from __future__ import annotations

import uuid

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0007_restored")]

    operations = [
        migrations.CreateModel(
            name="Lineage",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("name", models.UUIDField(default=uuid.uuid4)),
                ("mark", models.BigIntegerField(default=0)),
                ("overtaken_at", models.DateTimeField(null=True)),
            ],
        ),
    ]
