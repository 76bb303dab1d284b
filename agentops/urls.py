"""Addresses: the apps' own, the admin, signing in and what belongs to no app."""

from __future__ import annotations

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from agentops import views

handler500 = views.broken

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.home, name="home"),
    path("favicon.ico", views.favicon),
    path("pulse/", views.pulse, name="pulse"),
    path("preferences/", views.preferences, name="preferences"),
    path("demo/sign-in/", views.demo_sign_in, name="demo-sign-in"),
    path("demo/mail/", views.demo_mail, name="demo-mail"),
    path("runs/", include("runs.urls")),
    path("reviews/", include("reviews.urls")),
    path("admin/login/", views.admin_sign_in),
    path("admin/", admin.site.urls),
    path("accounts/login/", views.SignIn.as_view(), name="login"),
    path("accounts/password_reset/", views.ResetPassword.as_view()),
    path("accounts/", include("django.contrib.auth.urls")),
]
