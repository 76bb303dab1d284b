"""What the settings promise: safe behind HTTPS, strict about content, SQLite durable."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.db import connection

from tests.support.project import ROOT

PRODUCTION = {
    "SECRET_KEY": "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "ALLOWED_HOSTS": "agentops.example.com",
    "DATABASE_URL": "postgresql://agentops@localhost/agentops",
    "AGENTOPS_HTTPS": "1",
    "AGENTOPS_BEHIND_PROXY": "1",
    "AGENTOPS_BASE_URL": "https://agentops.example.com",
}


ADMIN_PAGES = (
    "",
    "runs/run/",
    "runs/agent/add/",
    "auth/user/?is_active__exact=1",
    "reviews/notification/",
    "axes/accessattempt/",
    "nowhere/",
    "password_change/",
)


TOOL = """
from runs.tools.base import Effect, tool

@tool(effect=Effect.READ)
def order_status(order: int) -> str:
    \"\"\"Look up where an order is.\"\"\"
    return "shipped"
"""


def manage(*args: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *args],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **env},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_deployment_check_is_clean_with_the_documented_variables():
    done = manage("check", "--deploy", "--fail-level", "WARNING", **PRODUCTION)

    assert done.returncode == 0, done.stderr


def test_https_brings_cookies_that_no_other_host_can_set():
    script = (
        "from django.conf import settings as s;"
        "print(s.SESSION_COOKIE_NAME, s.CSRF_COOKIE_NAME, s.SESSION_COOKIE_SECURE,"
        " s.CSRF_COOKIE_SECURE, s.SECURE_HSTS_SECONDS)"
    )

    done = manage("shell", "--no-imports", "-c", script, **PRODUCTION)

    assert done.stdout.split() == [
        "__Host-agentops_session",
        "__Host-agentops_csrf",
        *("True", "True", "31536000"),
    ]


def test_a_wrong_variable_is_one_clear_sentence():
    done = manage("check", **PRODUCTION, AGENTOPS_LEASE_S="soon")

    assert done.returncode == 1
    assert done.stderr == "AGENTOPS_LEASE_S must be a number, but it is 'soon'.\n"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "postgres://ana:hunter/22@db/agentops"),
        ("DATABASE_URL", "posgres://ana:hunter22@db/agentops"),
        ("DATABASE_URL", "mysql://ana:hunter22@db/agentops"),
        ("TIME_ZONE", "Europe/hunter22"),
    ],
)
@pytest.mark.parametrize("command", ["check", "worker"])
def test_a_wrong_address_is_one_sentence_without_it(command, name, value):
    done = manage(command, **{**PRODUCTION, name: value})

    assert done.returncode == 1
    assert done.stderr.startswith(f"{name} must be ")
    assert done.stderr.count("\n") == 1
    assert "hunter" not in done.stdout + done.stderr


def test_tools_of_apps_that_are_named_are_found(tmp_path):
    app = tmp_path / "shop"
    app.mkdir()
    (app / "__init__.py").touch()
    (app / "tools.py").write_text(TOOL)
    script = "from runs.tools import registry; print(registry.get('order_status'))"

    done = manage(
        *("shell", "--no-imports", "-c", script),
        **PRODUCTION,
        AGENTOPS_APPS="shop",
        PYTHONPATH=str(tmp_path),
    )

    assert "Look up where an order is." in done.stdout, done.stderr


def test_pages_may_load_nothing_from_elsewhere_and_run_nothing_inline(client):
    policy = client.get("/admin/login/")["Content-Security-Policy"]

    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "form-action 'self'" in policy
    assert "base-uri 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.django_db
def test_sqlite_keeps_what_it_has_committed():
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        pragmas = ("journal_mode", "synchronous", "foreign_keys")
        found = [cursor.execute(f"PRAGMA {name}").fetchone()[0] for name in pragmas]

    assert found == ["wal", 2, 1]


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_admin_works_under_the_policy(live_server, chromium, admin_user):
    page = chromium.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))

    page.goto(f"{live_server.url}/admin/")
    page.fill("#id_username", admin_user.username)
    page.fill("#id_password", "password")
    page.get_by_role("button", name="Sign in").click()
    page.goto(f"{live_server.url}/admin/auth/user/add/")

    assert page.inner_text("#content h1") == "Add user"
    for path in ADMIN_PAGES:
        page.goto(f"{live_server.url}/admin/{path}")
    assert [text for text in complaints if "Content Security Policy" in text] == []
    page.close()
