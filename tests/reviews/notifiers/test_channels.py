"""Slack, Teams, PagerDuty and webhooks get what they understand, and nothing else.

The requests are real ones; a server on this host takes the place of the services.
"""

from __future__ import annotations

import pytest

from reviews.notifiers import base
from reviews.notifiers.base import Undeliverable
from tests.reviews.notifiers.conftest import said_of
from tests.support import factory
from tests.support.wait import cut_short

pytestmark = [pytest.mark.django_db, pytest.mark.once]

SLACK = "https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"
TEAMS = (
    "https://prod-1.westus.logic.azure.com:443/workflows/643e69f83c8944438d68119179a1/"
    "triggers/manual/paths/invoke?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun"
    "&sv=1.0&sig=KODuebWbDGYFr0z0eu-6Rj8aUKz7108W3wrNJZxFE5A"
)
PAGERDUTY = "pagerduty://0123456789abcdef0123456789abcdef@apikey"


def send(channel, address, said):
    base.find(channel).send(address, said)


def test_slack_gets_plain_text(services, said):
    send("slack", SLACK, said)

    assert services.paths == [SLACK.removeprefix("https:/")]
    assert services.body["mrkdwn"] is False
    (attachment,) = services.body["attachments"]
    assert "mrkdwn_in" not in attachment
    assert attachment["title"] == said.subject
    assert "less sure than this tool needs" in attachment["text"]
    assert said.link in attachment["text"]
    assert "September" not in str(services.body)


def test_s03_slack_shows_hostile_words_as_they_are(services, hostile):
    send("slack", SLACK, hostile)

    (attachment,) = services.body["attachments"]
    for text in (attachment["title"], attachment["text"]):
        assert "<" not in text
    assert "&lt;!channel&gt;" in attachment["title"]
    assert "[U+202E]" in attachment["title"]
    assert "://evil" not in str(services.body)


def test_teams_gets_a_card(services, said):
    send("teams", TEAMS, said)

    assert services.paths[0].startswith("/prod-1.westus.logic.azure.com:443/workflows/")
    (card,) = services.body["attachments"]
    title, body = [block["text"] for block in card["content"]["body"]]
    assert "Post to analytics@example.com" in title
    assert said.link in body
    assert "September" not in str(services.body)


def test_s03_teams_shows_hostile_words_as_they_are(services, hostile):
    send("teams", TEAMS, hostile)

    (card,) = services.body["attachments"]
    assert "entities" not in card["content"]["msteams"]
    title = card["content"]["body"][0]["text"]
    assert "<" not in title
    assert r"\*b\* \_i\_ \~s\~ \`c\` \[Approve\]\(" in title
    assert "://evil" not in str(services.body)


def test_pagerduty_gets_an_incident_for_each_item(services, said):
    send("pagerduty", PAGERDUTY, said)

    assert services.paths == ["/events.pagerduty.com/v2/enqueue"]
    event = services.body
    assert event["event_action"] == "trigger"
    assert event["dedup_key"] == f"agentops:{said.key}"
    assert event["payload"]["summary"] == said.subject
    assert event["payload"]["severity"] == "warning"
    assert event["links"] == [{"href": said.link}]
    assert "images" not in event


def test_pagerduty_closes_the_incident(services):
    review = factory.park()
    opened = said_of(review)

    send("pagerduty", PAGERDUTY, said_of(review, "closed"))

    assert services.body["event_action"] == "resolve"
    assert services.body["dedup_key"] == f"agentops:{opened.key}"


def test_s03_pagerduty_keeps_hostile_words_in_one_line_of_json(services, hostile):
    send("pagerduty", PAGERDUTY, hostile)

    summary = services.body["payload"]["summary"]
    assert summary == hostile.subject
    assert "\n" not in summary
    assert "://evil" not in str(services.body)


def test_a_webhook_gets_fields(services, said):
    send("webhook", f"{services.url}/hook?team=ops&team=two", said)

    assert services.paths == ["/hook?team=ops&team=two"]
    fields = services.body
    assert fields["event"] == "opened"
    assert fields["title"] == said.subject
    assert fields["what"] == said.what
    assert fields["risk"] == "medium"
    assert fields["link"] == said.link
    assert fields["due_at"] == said.due_at.isoformat()
    assert "attachments" not in fields
    assert "September" not in str(fields)


def test_a_webhook_gets_hostile_words_as_data(services, hostile):
    send("webhook", services.url, hostile)

    assert services.body["what"] == hostile.what
    assert "<!channel>" in services.body["what"]
    assert "://evil" not in str(services.body)


@pytest.mark.parametrize(
    ("status", "permanent"), [(403, True), (404, True), (429, False), (503, False)]
)
def test_n01_a_refusal_is_told_without_the_address(services, said, status, permanent):
    services.status = status

    with pytest.raises(Undeliverable) as caught:
        send("slack", SLACK, said)

    assert caught.value.permanent is permanent
    assert caught.value.message == f"It answered with status {status}."


def test_n01_a_service_that_drips_is_left_in_time(services, said, configured):
    configured(notify_deadline_s=2.0)
    services.drips = True

    with cut_short(), pytest.raises(Undeliverable) as caught:
        send("webhook", f"{services.url}/secret", said)

    assert not caught.value.permanent
    assert "within 2 seconds" in caught.value.message
    assert services.paths == ["/secret"]


def test_no_redirect_is_followed(services, said):
    services.status, services.location = 307, f"{services.url}/elsewhere"

    with pytest.raises(Undeliverable):
        send("webhook", f"{services.url}/hook", said)

    assert services.paths == ["/hook"]


def test_a_host_inside_is_never_connected_to(services, said, configured):
    configured(notify_private_hosts="")

    with pytest.raises(Undeliverable) as caught:
        send("webhook", f"{services.url}/hook", said)

    assert caught.value.permanent
    assert "not a public address" in caught.value.message
    assert services.paths == []


def test_a_name_that_leads_inside_is_no_way_round(services, said, configured):
    configured(notify_private_hosts="10.0.0.0/8")
    port = services.url.rpartition(":")[2]

    with pytest.raises(Undeliverable):
        send("webhook", f"https://localhost:{port}/hook", said)

    assert services.paths == []


@pytest.mark.parametrize(
    ("channel", "address"),
    [
        ("slack", SLACK),
        ("slack", "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#ops"),
        ("teams", TEAMS),
        ("pagerduty", PAGERDUTY),
        ("pagerduty", PAGERDUTY + "?region=eu"),
        ("webhook", "https://example.com/hook?token=1"),
        ("email", "ana@example.com"),
    ],
)
def test_good_addresses_are_kept(channel, address):
    assert base.find(channel).clean(address) == address


def test_an_integration_key_alone_is_enough_for_pagerduty():
    kept = base.find("pagerduty").clean("0123456789abcdef0123456789abcdef")

    assert kept.startswith("pagerduty://0123456789abcdef")


@pytest.mark.parametrize(
    ("channel", "address"),
    [
        ("slack", "https://example.com/services/T1/A1/x"),
        ("slack", SLACK + "?template=/etc/passwd"),
        ("slack", "slack://nothing"),
        ("slack", "json://127.0.0.1/"),
        ("teams", "http://prod-1.westus.logic.azure.com/workflows/1/x"),
        ("teams", TEAMS + "&template=file:///etc/passwd"),
        ("teams", "https://example.com/hook"),
        ("pagerduty", "pagerduty://key"),
        ("pagerduty", PAGERDUTY + "?click=https://evil.example"),
        ("webhook", "http://example.com/hook"),
        ("webhook", "https://127.0.0.1/hook"),
        ("webhook", "https://169.254.169.254/latest"),
        ("webhook", "https://localhost/hook"),
        ("webhook", "https://ana:secret@example.com/"),
        ("webhook", "file:///etc/passwd"),
        ("email", "ana"),
    ],
)
def test_other_addresses_are_refused_without_quoting_them(channel, address):
    with pytest.raises(ValueError, match=r".") as caught:
        base.find(channel).clean(address)

    assert "secret" not in str(caught.value)
    assert "passwd" not in str(caught.value)


def test_plain_http_is_for_hosts_inside_that_are_named(configured):
    configured(notify_private_hosts="hooks.corp.example, 10.1.0.0/16")
    clean = base.find("webhook").clean

    assert clean("http://10.1.2.3/hook")
    assert clean("http://hooks.corp.example/hook")
    with pytest.raises(ValueError, match="https"):
        clean("http://example.com/hook")
    with pytest.raises(ValueError, match="public"):
        clean("http://10.2.0.1/hook")
