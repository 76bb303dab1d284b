"""What models, tools, submitters, reviewers and admins say is shown, and never obeyed.

One hostile installation is rendered at every address there is, and beside it the same
with harmless words: what a page is made of must be the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from django.core import mail
from django.db import transaction

from reviews import outbox
from reviews.models import Notification, Review
from reviews.notifiers import base, message
from runs import policy
from runs.states import ParkReason
from tests.reviews.notifiers.test_channels import PAGERDUTY, SLACK, TEAMS
from tests.reviews.told import texts
from tests.support import acts, factory, hostile
from tests.support.everywhere import pages
from tests.support.markup import Markup, dangers, skeleton, unseen

pytestmark = pytest.mark.django_db

SEARCHED = ("<script>pwned()</script>\u202e", "\"'><img src=x onerror=pwned(1)>")
ENTERED = re.compile(
    r"/admin/(?!runs/(?!agent/|guidance/|price/|tool/)|reviews/)|/admin/.*/(delete|history)/"
    r"|/admin/runs/(agent|guidance)/\d+/"
)
"""Pages of Django's on which people enter or confirm what they see as it is."""


@pytest.fixture(autouse=True)
def _tools(tmp_path, monkeypatch) -> Iterator[None]:
    monkeypatch.setenv(acts.LOG, str(tmp_path / "acts"))
    policy.forget()
    with hostile.installed():
        yield


def shown(say: hostile.Say, client) -> dict[str, Markup]:
    """Every page of an installation in which everything is said so."""
    with transaction.atomic():
        hostile.tell(say, client)
        outbox.deliver()
        found = {at: Markup(html) for at, html in pages(client, SEARCHED)}
        transaction.set_rollback(True)
    return found


@pytest.mark.once
def test_s01_every_page_is_made_of_the_same_whatever_is_said(client):
    bad = shown(hostile.hostile, client)
    good = shown(hostile.harmless, client)

    assert len(bad) > 100
    assert {at: d for at, m in bad.items() if (d := dangers(m))} == {}
    hidden = {at: t for at, m in bad.items() if (t := unseen(m))}
    assert {at: t for at, t in hidden.items() if not ENTERED.match(at)} == {}
    assert more(kinds_of(bad), kinds_of(good)) == {}


def kinds_of(found: dict[str, Markup]) -> dict[str, Counter[str]]:
    """What the pages of each kind are made of, together: rows have other ids."""
    kinds: dict[str, Counter[str]] = {}
    for at, markup in found.items():
        kind = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{64}|\d+", "0", at)
        kinds.setdefault(kind.split("?")[0], Counter()).update(skeleton(markup))
    return kinds


def more(bad: dict[str, Counter[str]], good: dict[str, Counter[str]]) -> Any:
    """The elements that only hostile words have put there."""
    return {
        kind: over
        for kind, made_of in bad.items()
        if (over := made_of - good.get(kind, Counter()))
    }


# Messages


PHISHING = (
    "<!channel> <@U1> @here <https://evil.example|Approve here> *b* `c` <at>Ana</at>"
    " [Approve](https://evil.example) https://evil.example/approve evil.example"
    " \u202egnp &lt;!here&gt; http:\\\\evil.example"
)
LINE = "\r\nBcc: x@evil.example\r\n\r\nApprove: https://evil.example\n"


@pytest.fixture
def notice(db) -> message.Message:
    """Of an item whose agent and call have the worst of names."""
    agent = factory.make_agent(name=f"Bo{LINE}{PHISHING}"[:100])
    run = factory.make_run(agent)
    title = f"{PHISHING}{LINE}"
    call = factory.make_call(run, {"to": [PHISHING]}, title=f"Post letter: {title}")
    review = factory.park(run, call=call, question=PHISHING, reasoning=PHISHING)
    return message.of([Notification(review=review, run=run, event="opened")])


ADDRESSES = {"slack": SLACK, "teams": TEAMS, "pagerduty": PAGERDUTY}


@pytest.mark.parametrize("channel", [*ADDRESSES, "webhook"])
def test_s03_a_message_pages_nobody_and_links_to_us_alone(services, notice, channel):
    address = ADDRESSES.get(channel, f"{services.url}/hook")

    base.find(channel).send(address, notice)

    said = str(services.body)
    links = set(re.findall(r"https?://[^\s\"'\\\\)]+", said))
    assert {link for link in links if "127.0.0.1" not in link} <= OURS
    assert notice.link in links
    assert not re.search(r"://(?!127\.0\.0\.1)[\w.]*evil|(?<!@)\bevil\.example", said)
    assert "\u202e" not in said
    if channel == "slack":
        assert not re.search(r"<[!@#h]", said)


OURS = {"http://adaptivecards.io/schemas/adaptive-card.json"}
"""Said of the form of a card, and no link."""


def test_s03_a_mail_has_one_link_and_no_header_but_ours(notice):
    base.find("email").send("ana@example.com", notice)

    (sent,) = mail.outbox
    raw, body = sent.message(), str(sent.body)
    page = Markup(texts(sent)[1])
    hrefs = [attributes["href"] for tag, attributes, _ in page.elements if tag == "a"]
    assert hrefs == [notice.link]
    assert raw["Bcc"] is None
    assert sent.recipients() == ["ana@example.com"]
    assert "\n" not in sent.subject
    assert [d for d in dangers(page) if not d.endswith("style runs or dresses")] == []
    assert unseen(page) == []
    assert not re.search(r"(?m)^(Approve|Bcc):", body)
    assert set(re.findall(r"https?://\S+", body)) == {notice.link}


def test_s03_the_answers_of_models_are_in_no_message(services):
    run = factory.make_run(task=PHISHING)
    review = factory.park(run, ParkReason.QUESTION, has_call=False, question=PHISHING)
    row = Notification(review=review, run=run, event="opened")

    base.find("webhook").send(f"{services.url}/hook", message.of([row]))

    assert "evil" not in str(services.body)
    assert Review.objects.get().question == PHISHING
