"""A wrong deployment is refused at the start."""

from __future__ import annotations

import pytest
from django.core.checks import run_checks

from agentops import checks
from agentops.settings import SQLITE_OPTIONS, database


def ids() -> set[str]:
    found = {str(message.id) for message in run_checks()}
    return {name for name in found if name.startswith("agentops")}


def test_d08_the_product_as_it_is_passes():
    assert ids() == set()


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"ATOMIC_REQUESTS": True}, "agentops.E001"),
        ({"OPTIONS": {**SQLITE_OPTIONS, "pool": True}}, "agentops.E002"),
        ({"OPTIONS": {**SQLITE_OPTIONS, "transaction_mode": None}}, "agentops.E003"),
        ({"OPTIONS": {**SQLITE_OPTIONS, "init_command": ""}}, "agentops.E004"),
        (
            {
                "OPTIONS": {
                    **SQLITE_OPTIONS,
                    "init_command": "PRAGMA journal_mode=WAL; "
                    "PRAGMA synchronous=NORMAL;",
                }
            },
            "agentops.E005",
        ),
    ],
)
def test_a_database_that_could_lose_or_block_is_refused(changed, expected):
    asked = database("sqlite:///x.sqlite3") | changed

    refused = {message.id for message in checks.check_database("default", asked)}

    assert expected in refused


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"timeout": None}, "agentops.E006"),
        ({"timeout": 0}, "agentops.E006"),
        ({"timeout": 1500}, "agentops.E006"),
        ({"timeout": 600, "retry": 60}, "agentops.E006"),
        ({"retry": 1000}, "agentops.E006"),
        ({"max_attempts": 0}, "agentops.E007"),
        ({"max_attempts": -1}, "agentops.E007"),
        ({"orm": None}, "agentops.E008"),
    ],
)
def test_d08_a_queue_that_repeats_tasks_is_refused(settings, changed, expected):
    settings.Q_CLUSTER = settings.Q_CLUSTER | changed

    assert ids() == {expected}


@pytest.mark.parametrize("missing", ["timeout", "retry", "max_attempts"])
def test_d08_what_django_q2_would_assume_is_refused(settings, missing):
    settings.Q_CLUSTER = {k: v for k, v in settings.Q_CLUSTER.items() if k != missing}

    assert ids() & {"agentops.E006", "agentops.E007"}


def test_d08_a_driver_that_may_take_longer_than_the_retry_is_refused(configured):
    configured(drive_slice_s=3600.0)

    assert ids() == {"agentops.E006"}


def test_an_unknown_provider_is_refused(settings):
    settings.AGENTOPS_PROVIDER = "oracle"

    assert ids() == {"agentops.E009"}


def test_a_provider_without_its_key_is_refused(settings):
    settings.AGENTOPS_PROVIDER = "openai"

    assert ids() == {"agentops.E010"}


def test_a_heartbeat_too_slow_for_its_lease_is_refused(configured):
    configured(heartbeat_s=10.0, lease_s=15.0)

    assert ids() == {"agentops.E011"}


def test_a_backoff_that_begins_above_its_cap_is_refused(configured):
    configured(backoff_base_s=90.0, backoff_cap_s=60.0)

    assert ids() == {"agentops.E012"}


def test_a_misspelt_setting_is_told(monkeypatch):
    monkeypatch.setenv("AGENTOPS_LEAS_S", "15")

    assert ids() == {"agentops.W001"}


@pytest.mark.parametrize(
    ("changed", "expected"), [("DEBUG", "E013"), ("AGENTOPS_DEMO", "E014")]
)
def test_what_is_for_one_host_is_refused_on_a_site(settings, changed, expected):
    settings.HTTPS = True
    setattr(settings, changed, True)

    assert ids() == {f"agentops.{expected}"}


SITE = {
    "ALLOWED_HOSTS": ["agentops.example.com"],
    "HTTPS": True,
    "BEHIND_PROXY": True,
}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, set()),
        ({"ALLOWED_HOSTS": ["*"]}, {"W002"}),
        ({"HTTPS": False, "BEHIND_PROXY": False}, {"W003"}),
        ({"HTTPS": False}, {"W003", "W005"}),
        ({"HTTPS": False, "BEHIND_PROXY": False, "DEBUG": True}, {"W003", "W004"}),
        ({"ALLOWED_HOSTS": ["other.example.com"]}, {"W006"}),
    ],
)
def test_what_a_site_should_not_be_run_with_is_told(
    settings, configured, changed, expected
):
    configured(base_url="https://agentops.example.com")
    for name, value in (SITE | changed).items():
        setattr(settings, name, value)

    told = {str(one.id) for one in checks.check_site(None)}

    assert told == {f"agentops.{name}" for name in expected}


def test_links_in_mails_lead_to_a_site_by_https(settings, configured):
    configured(base_url="http://agentops.example.com")
    settings.ALLOWED_HOSTS, settings.HTTPS = ["agentops.example.com"], True

    assert [one.id for one in checks.check_site(None)] == ["agentops.W006"]
