"""The app that owns reviews, decisions and notifications."""

from __future__ import annotations

from django.apps import AppConfig


class ReviewsConfig(AppConfig):
    name = "reviews"
    verbose_name = "Reviews"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from reviews import afterwards, expiring, receivers, tasks
        from runs.signals import run_changed

        run_changed.connect(receivers.on_run_changed, dispatch_uid="reviews")
        tasks.register_timers()
        expiring.register_timer()
        afterwards.register_timer()
