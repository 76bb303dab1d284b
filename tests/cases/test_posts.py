"""Cases H over HTTP: what is posted, by whom, how often and how late."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core import mail
from django.db import connections
from django.test import Client
from django.urls import reverse

from agentops import clock
from reviews import outbox
from reviews.models import Decision, Draft, Note, Review
from runs import policy, services
from runs.models import Run, Step, Tool
from runs.services import start
from tests.cases.conftest import case_agent
from tests.support.acts import acts
from tests.support.advance import provider, settle
from tests.support.replies import calls, check, text

pytestmark = pytest.mark.django_db

LINK = re.compile(r"http://127.0.0.1:8000(/\S+)")
LETTER = calls(("post", {"what": "x"}))


def person(name: str, *groups: str) -> User:
    made = User.objects.create_user(name, f"{name}@example.com")
    made.groups.set(Group.objects.filter(name__in=groups))
    return made


def signed_in(user: User, **options: Any) -> Client:
    client = Client(**options)
    client.force_login(user)
    return client


@dataclass
class Desk:
    """A letter that waits, who asked for it, and who may decide."""

    run: Run
    asker: User
    ana: User
    ben: User

    @property
    def review(self) -> Review:
        return Review.objects.get(run=self.run)

    def way(self, name: str = "detail", *args: str) -> str:
        return reverse(f"reviews:{name}", args=[self.review.pk, *args])

    def seal(self, **more: Any) -> dict[str, Any]:
        review = self.review
        return {"item_version": review.version, "digest": review.digest} | more

    def post(self, by: User, kind: str = "approve", /, **more: Any) -> Any:
        return signed_in(by).post(self.way("decide", kind), self.seal() | more)

    def goes_on(self) -> Run:
        with provider(text("Done.")):
            return settle(Run.objects.get(pk=self.run.pk))


@pytest.fixture
def desk(db, configured):
    configured(notify_every_medium_s=0.0)
    asker = person("sue", "submitters", "operators")
    ana, ben = person("ana", "operators"), person("ben", "operators")
    run = start(agent=case_agent(), by=asker, task="Post a letter")
    with provider(LETTER, check(0.2)):
        run = settle(run)
    return Desk(run, asker, ana, ben)


def everything(desk: Desk) -> Any:
    """All that a decision could change."""
    counts = [m.objects.count() for m in (Decision, Draft, Note, Step)]
    row = Review.objects.filter(pk=desk.review.pk).values().get()
    return counts, row, Run.objects.filter(pk=desk.run.pk).values().get()


# ---- H01, H02


@pytest.mark.django_db(transaction=True)
def test_h01_ten_posts_at_once_are_one_decision_and_one_effect(desk):
    sent, way = desk.seal(), desk.way("decide", "approve")
    clients = [signed_in(by) for by in (desk.ana, desk.ben) * 5]
    gate, statuses = threading.Barrier(10), []

    def post(client: Client) -> None:
        gate.wait(10)
        try:
            statuses.append(client.post(way, sent).status_code)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=post, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    run = desk.goes_on()

    assert sorted(statuses) == [302] * 5 + [409] * 5
    assert (run.state, len(acts())) == ("completed", 1)
    assert Decision.objects.count() == Step.objects.filter(kind="decision").count() == 1


def test_h01_a_later_post_answers_with_the_decision_taken(desk):
    sent = desk.seal()
    first = desk.post(desk.ana)
    desk.goes_on()

    again = signed_in(desk.ana).post(desk.way("decide", "approve"), sent)
    other = signed_in(desk.ben).post(desk.way("decide", "approve"), sent)

    assert (first.status_code, again.status_code, other.status_code) == (302, 302, 409)
    assert "Approved by ana" in other.content.decode()
    assert (Decision.objects.count(), len(acts())) == (1, 1)


# ---- H10


@pytest.mark.parametrize("groups", [(), ("submitters",)])
@pytest.mark.parametrize("kind", ["approve", "reject", "edit", "abort", "guide"])
def test_h10_without_the_right_nothing_is_decided(desk, groups, kind):
    before = everything(desk)

    answer = desk.post(person("eve", *groups), kind, text="Because.")

    assert answer.status_code in {403, 404}
    assert everything(desk) == before


@pytest.mark.parametrize("allowed", [False, True])
def test_h10_own_requests_are_decided_as_configured(desk, configured, allowed):
    configured(allow_self_decision=allowed)

    answer = desk.post(desk.asker)

    assert answer.status_code == (302 if allowed else 403)
    assert Decision.objects.count() == allowed


def test_h10_who_decided_is_who_is_signed_in(desk):
    other = str(desk.ben.pk)
    names = ("by", "actor", "actor_id", "user", "decided_by", "username", "person")

    answer = desk.post(desk.ana, **dict.fromkeys(names, other))

    assert answer.status_code == 302
    assert Decision.objects.get().actor == desk.ana
    assert "Approved by you" in signed_in(desk.ana).get(desk.way()).content.decode()


def test_h10_nobody_decides_without_signing_in(desk):
    before = everything(desk)

    answer = Client().post(desk.way("decide", "approve"), desk.seal())

    assert answer.status_code == 401
    assert "sign in" in answer.content.decode().lower()
    assert everything(desk) == before


# ---- H11


@pytest.mark.parametrize("method", ["get", "head", "options", "put", "delete"])
def test_h11_no_method_but_post_changes_anything(desk, method):
    clients = [Client(), signed_in(desk.ana)]
    ways = [desk.way(), desk.way("pane"), desk.way("undo"), desk.way("hold")]
    ways += [desk.way("decide", kind) for kind in ("approve", "reject", "abort")]
    before = everything(desk)

    for way in ways:
        for client in clients:
            getattr(client, method)(way, headers={"Purpose": "prefetch"})

    assert everything(desk) == before


def test_h11_the_link_of_a_mail_only_shows(desk):
    outbox.deliver()
    links = {found for sent in mail.outbox for found in LINK.findall(str(sent.body))}
    before = everything(desk)

    opened = {
        client.get(link).status_code
        for link in links
        for client in (Client(), signed_in(desk.ana))
    }

    assert desk.way() in links
    assert opened == {200, 302}
    assert everything(desk) == before


def test_h11_a_post_without_the_token_changes_nothing(desk):
    before = everything(desk)
    client = signed_in(desk.ana, enforce_csrf_checks=True)

    answer = client.post(desk.way("decide", "approve"), desk.seal())

    assert answer.status_code == 403
    assert everything(desk) == before


# ---- H13


@pytest.mark.parametrize("kind", ["approve", "reject", "edit", "guide"])
def test_h13_an_expired_item_is_not_decided_though_no_sweeper_ran(
    desk, advance_clock, kind
):
    Review.objects.update(expires_at=clock.later(60))
    advance_clock(61)

    answer = desk.post(desk.ana, kind, text="Because.", **{"arguments.what": "y"})

    assert answer.status_code == 409
    assert "nobody answered" in answer.content.decode()
    assert desk.review.status in {"open", "expired"}
    assert not Decision.objects.exists()


def test_h13_an_aborted_run_is_not_decided_on(desk):
    sent = desk.seal()
    services.cancel(desk.run.pk, by=desk.asker, reason="Not needed.")

    answer = signed_in(desk.ana).post(desk.way("decide", "approve"), sent)

    assert answer.status_code == 409
    assert Run.objects.get().state == "aborted"
    assert not Decision.objects.exists()


def test_h13_a_completed_run_is_not_decided_on(desk):
    sent = desk.seal()
    desk.post(desk.ben, "reject", text="Because.")
    assert desk.goes_on().state == "completed"

    answer = signed_in(desk.ana).post(desk.way("decide", "approve"), sent)

    assert answer.status_code == 409
    assert (acts(), Decision.objects.count()) == ([], 1)


# ---- H05


def test_h05_an_approval_that_cannot_resume_says_so(desk):
    Tool.objects.update_or_create(name="post", defaults={"policy": "blocked"})
    policy.forget()

    answer = desk.post(desk.ana)

    assert answer.status_code in {409, 422}
    assert "post" in answer.content.decode().lower()
    assert not Decision.objects.exists()
    assert Run.objects.get().state == "awaiting_human"


# ---- H08


def test_h08_an_edit_without_measure_leaves_the_decision_open(desk):
    before = Run.objects.values().get()

    answer = desk.post(desk.ana, "edit", **{"arguments.what": "y" * 2_000_000})

    assert answer.status_code == 422
    assert "at most 100,000" in answer.content.decode()
    assert desk.review.status == "open"
    assert Run.objects.values().get() == before


def test_h08_what_an_edit_does_not_send_stays_as_it_was(desk):
    desk.post(desk.ana, "edit", **{"arguments": "no object", "arguments.more": "z"})
    desk.goes_on()

    assert [act["what"] for act in acts()] == ["x"]


# ---- what else is posted

VERSIONS = ["", "x", "0", "-1", "2", "1.0", "1e0", "9" * 99, "9" * 9999, "\x00"]


@pytest.mark.parametrize("version", VERSIONS, ids=range(len(VERSIONS)))
def test_h02_a_version_that_was_not_shown_is_a_conflict(desk, version):
    answer = desk.post(desk.ana, item_version=version)

    assert answer.status_code == 409
    assert not Decision.objects.exists()


@pytest.mark.parametrize("digest", ["", "0" * 64, "\x00", "x" * 100_000, "é" * 64])
def test_h02_a_call_that_was_not_shown_is_a_conflict(desk, digest):
    answer = desk.post(desk.ana, digest=digest)

    assert answer.status_code == 409
    assert not Decision.objects.exists()


def test_h02_the_seal_of_another_item_fits_this_one_not(desk):
    other = start(agent=desk.run.agent, by=desk.asker, task="Another")
    with provider(calls(("post", {"what": "y"})), check(0.2)):
        settle(other)
    foreign = Review.objects.get(run=other)

    answer = desk.post(desk.ana, digest=foreign.digest)

    assert answer.status_code == 409
    assert not Decision.objects.exists()


@pytest.mark.parametrize("kind", ["top_up", "nonsense", "__class__", "undo", "APPROVE"])
def test_h08_a_kind_that_is_not_offered_decides_nothing(desk, kind):
    answer = desk.post(desk.ana, kind)

    assert answer.status_code == 422
    assert not Decision.objects.exists()


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'{"item_version": 1}', "application/json"),
        (b"", "application/x-www-form-urlencoded"),
        (b"\xff\xfe%zz&=&&&==", "application/x-www-form-urlencoded"),
        (b"--x\r\nno part", "multipart/form-data; boundary=x"),
        (b"x", "multipart/form-data"),
        (b"<decision/>", "text/xml"),
        (b"a=1&" * 2000, "application/x-www-form-urlencoded"),
        (b"note=" + b"x" * 5_000_000, "application/x-www-form-urlencoded"),
    ],
    ids=["json", "nothing", "bytes", "part", "boundary", "xml", "fields", "size"],
)
def test_h08_a_body_of_another_kind_decides_nothing(desk, body, kind):
    way = desk.way("decide", "approve")

    answer = signed_in(desk.ana).post(way, body, content_type=kind)

    assert answer.status_code in {400, 409, 413}
    assert not Decision.objects.exists()


@pytest.mark.parametrize("kind", ["approve", "reject", "guide", "abort"])
def test_h08_a_note_of_a_megabyte_is_refused_beside_its_field(desk, kind):
    note = "n" * 1_000_000

    answer = desk.post(desk.ana, kind, note=note, text=note)

    assert answer.status_code == 422
    assert not Decision.objects.exists()


def test_h08_a_note_is_stored_as_databases_can(desk):
    answer = desk.post(desk.ana, note="a\x00b \u202ec")

    assert answer.status_code == 302
    assert Decision.objects.get().note == "a␀b \u202ec"
