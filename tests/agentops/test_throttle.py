"""Guessing passwords is held back; who knows theirs is held back as little as may be."""

from __future__ import annotations

import pytest
import time_machine
from axes.models import AccessAttempt
from django.core import mail
from django.test import Client
from django.urls import reverse

from agentops import sessions, tasks, throttle
from agentops.conf import product
from runs import queue
from tests.support.fixtures import PASSWORD

pytestmark = pytest.mark.django_db

HERE, THERE = "192.0.2.1", "198.51.100.7"
NOON = "2026-03-02 12:00"


WRONG = "a guess"


def sign_in(client, name, password=WRONG, *, at=HERE, door="login"):
    entered = {"username": name, "password": password}
    return client.post(reverse(door), entered, REMOTE_ADDR=at)


def guess(client, times, name="operator", *, at=HERE):
    return [sign_in(client, name, at=at).status_code for _ in range(times)]


def is_in(client) -> bool:
    return "_auth_user_id" in client.session


@pytest.mark.parametrize("name", ["operator", "nobody-of-that-name"])
def test_after_five_wrong_passwords_one_has_to_wait(client, people, name):
    assert guess(client, 4, name) == [200] * 4

    assert guess(client, 1, name) == [429]
    assert sign_in(client, name, PASSWORD).status_code == 429
    assert not is_in(client)


def test_the_page_says_until_when_and_tells_nobody_whether_there_is_such_a_name(
    client, people
):
    pages = []
    for name in ("operator", "nobody-of-that-name"):
        with time_machine.travel(NOON, tick=False):
            guess(client, 5, name)
            pages.append(sign_in(client, name))

    assert "possible at 12:15, in 15 minutes" in pages[0].content.decode()
    assert pages[0]["Retry-After"] == "900"
    assert pages[0].content == pages[1].content


def test_the_wait_ends_by_itself_and_tries_meanwhile_do_not_put_it_off(client, people):
    with time_machine.travel(NOON, tick=False) as moment:
        guess(client, 5)
        moment.shift(800)
        assert "in 2 minutes" in sign_in(client, "operator").content.decode()

        moment.shift(101)
        assert sign_in(client, "operator", PASSWORD).status_code == 302


def test_a_stranger_elsewhere_does_not_lock_a_person_out_at_once(client, people):
    guess(client, 8, at=THERE)

    assert sign_in(client, "operator", PASSWORD).status_code == 302


def test_a_name_is_guessed_at_from_everywhere_only_so_often(client, people):
    for number in range(5):
        guess(client, 4, at=f"203.0.113.{number}")

    assert sign_in(client, "operator", PASSWORD).status_code == 429


def test_a_browser_that_is_known_is_not_locked_out_from_elsewhere(client, people):
    sign_in(client, "operator", PASSWORD)
    client.post(reverse("logout"))
    for number in range(5):
        guess(Client(), 4, at=f"203.0.113.{number}")

    assert sign_in(client, "operator", PASSWORD).status_code == 302


def test_a_browser_is_known_for_who_was_signed_in_last_and_for_nobody_else(
    client, people
):
    sign_in(client, "submitter", PASSWORD)
    client.post(reverse("logout"))
    for number in range(5):
        guess(Client(), 4, at=f"203.0.113.{number}")

    assert sign_in(client, "operator", PASSWORD).status_code == 429


def test_a_browser_knows_a_name_in_any_letters(client, people):
    people.operator.username = "Ольга 奥"
    people.operator.save()

    sign_in(client, people.operator.username, PASSWORD)

    cookie = client.cookies[sessions.LAST]
    assert cookie.OutputString().isascii()
    page = client.get(reverse("home"), follow=True)
    assert sessions.last(page.wsgi_request) == people.operator.username


def test_a_browser_says_by_itself_of_nobody_that_they_are_known(client, people):
    client.cookies[sessions.LAST] = "operator"
    for number in range(5):
        guess(Client(), 4, at=f"203.0.113.{number}")

    assert sign_in(client, "operator", PASSWORD).status_code == 429


def test_in_a_known_browser_one_guesses_no_more_than_elsewhere(client, people):
    sign_in(client, "operator", PASSWORD)
    client.post(reverse("logout"))

    assert guess(client, 5)[-1] == 429


def test_an_address_tries_many_names_only_so_often(client, people):
    for number in range(100):
        sign_in(client, f"name-{number}")

    assert sign_in(client, "operator", PASSWORD).status_code == 429
    assert sign_in(client, "operator", PASSWORD, at=THERE).status_code == 302


def test_who_signs_in_has_their_own_tries_forgiven_and_no_others(client, people):
    guess(client, 4)
    guess(client, 4, at=THERE)
    guess(client, 4, name="admin")

    sign_in(client, "operator", PASSWORD)

    left = AccessAttempt.objects.values_list("username", "ip_address")
    assert set(left) == {("operator", THERE), ("admin", HERE)}


def test_the_admin_pages_have_no_door_of_their_own(client, people):
    answer = client.get("/admin/login/?next=/admin/runs/run/")

    assert answer["Location"] == "/accounts/login/?next=/admin/runs/run/"
    assert sign_in(client, "admin", PASSWORD, door="admin:login").status_code == 302
    assert not is_in(client)


def test_who_has_no_business_in_the_admin_pages_is_told_so(client, people):
    client.force_login(people.operator)

    assert client.get("/admin/login/?next=/admin/").status_code == 403


def test_who_is_on_call_finds_a_line_in_the_log(client, people, caplog):
    guess(client, 5)

    lines = [r for r in caplog.records if r.levelname == "WARNING"]
    assert [line.getMessage() for line in lines if line.name == throttle.__name__] == [
        f"too many tries: 'operator' from {HERE} has to wait for 900 s"
    ]


def test_an_admin_ends_the_wait(client, people):
    guess(client, 5)
    row = AccessAttempt.objects.get()

    client.force_login(people.admin)
    chosen = {"action": "forgive", "_selected_action": [row.pk]}
    page = client.post("/admin/axes/accessattempt/", chosen, follow=True)
    client.logout()

    assert b"whoever waited may try again" in page.content
    assert sign_in(client, "operator", PASSWORD).status_code == 302


def test_no_password_is_kept_of_a_try(client, people):
    sign_in(client, "operator", "my other password")

    kept = AccessAttempt.objects.values().get()

    assert "my other password" not in str(kept)


@pytest.mark.parametrize("behind", [True, False])
def test_only_a_proxy_of_ours_says_where_somebody_is(rf, settings, behind):
    settings.BEHIND_PROXY = behind
    told = "203.0.113.66, 198.51.100.7"
    request = rf.get("/", REMOTE_ADDR="10.0.0.1", headers={"X-Forwarded-For": told})

    assert throttle.address(request) == (THERE if behind else "10.0.0.1")


@pytest.mark.parametrize(
    ("seen", "counted"),
    [
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("192.0.2.1:4711", "192.0.2.1"),
        ("[2001:db8:1:2:3:4:5:6]:4711", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("", None),
        ("a name", None),
    ],
)
def test_addresses_of_one_site_count_as_one(rf, seen, counted):
    assert throttle.address(rf.get("/", REMOTE_ADDR=seen)) == counted


def test_a_page_costs_no_query_more(client, people, django_assert_num_queries):
    with django_assert_num_queries(0):
        client.get(reverse("login"))


# A forgotten password


def forget(client, address="operator@example.com"):
    return client.post(reverse("password_reset"), {"email": address})


def test_asking_for_a_link_answers_alike_for_everybody(
    client, people, django_assert_num_queries
):
    answers = [forget(client), forget(client, "nobody@example.com")]

    assert {(a.status_code, a["Location"]) for a in answers} == {
        (302, reverse("password_reset_done"))
    }
    assert queue.length() == 2
    assert mail.outbox == []


def test_the_link_leads_to_where_the_settings_say(client, people, configured):
    configured(base_url="https://agentops.example.com")

    tasks.mail_a_link("operator@example.com")
    tasks.mail_a_link("nobody@example.com")

    (sent,) = mail.outbox
    assert "https://agentops.example.com/accounts/reset/" in str(sent.body)


def test_links_are_not_asked_for_without_end(client, people):
    for _ in range(product().sign_in_tries):
        assert forget(client).status_code == 302

    assert forget(client).status_code == 429
    assert queue.length() == product().sign_in_tries


def test_asking_for_links_leaves_the_sign_in_as_it_is(client, people):
    for _ in range(6):
        forget(client)

    assert sign_in(client, "operator", PASSWORD).status_code == 302
