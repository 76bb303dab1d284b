"""Addresses of the runs."""

from __future__ import annotations

from django.urls import path

from runs import views

app_name = "runs"

urlpatterns = [
    path("", views.run_list, name="list"),
    path("rows/", views.rows, name="rows"),
    path("new/", views.new, name="new"),
    path("<uuid:run_id>/", views.detail, name="detail"),
    path("<uuid:run_id>/live/", views.live, name="live"),
    path("<uuid:run_id>/watch/", views.watch, name="watch"),
    path("<uuid:run_id>/steps/", views.steps, name="steps"),
    path("<uuid:run_id>/steps/<int:number>/", views.step, name="step"),
    path("<uuid:run_id>/steps/<int:number>/fork/", views.fork, name="fork"),
    path("<uuid:run_id>/cancel/", views.cancel, name="cancel"),
    path("<uuid:run_id>/metrics.json", views.metrics_json, name="metrics"),
]
