"""Addresses: the apps' own, the admin and signing in."""

from __future__ import annotations

from importlib.util import find_spec

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from runs.health_views import healthz, readyz

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", healthz),
    path("readyz", readyz),
    path("admin/", admin.site.urls),
    path("accounts/", include("django.contrib.auth.urls")),
]
urlpatterns += [
    path("", include(app))
    for app in ("reviews.urls", "runs.urls")
    if find_spec(app) is not None
]
