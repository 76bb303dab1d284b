"""When a backup was restored in which the run was under way."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0006_forks")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="restored_at",
            field=models.DateTimeField(null=True),
        ),
    ]
