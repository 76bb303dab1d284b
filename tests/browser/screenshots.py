"""Pictures of the pages that matter, made from the real product.

    python -m tests.browser.screenshots [folder]

Inbox, review, run, new task, and what is seen more seldom; 1440 and 360 pixels wide,
light and dark. A wide picture is one screen, a narrow one the whole page. The folder
is docs/images if none is named; only review.png is kept in the repository.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SIZES = {
    "wide": {"width": 1440, "height": 900},
    "narrow": {"width": 360, "height": 780},
}
KEPT = ("review", "wide", "light")
STAYS_S = 300


def main(folder: Path) -> None:
    """Needs Chromium and the requirements of development; takes about a minute."""
    folder.mkdir(parents=True, exist_ok=True)
    with _told() as (project, addresses):
        from tests.support.browser import launched

        with launched() as browser:
            for size in SIZES:
                for theme in ("light", "dark"):
                    _take(browser, project, addresses, folder, size, theme)


@contextmanager
def _told() -> Iterator[tuple]:  # type: ignore[type-arg] # known once Django is up
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.support.settings"
    import django

    django.setup()
    from django.conf import global_settings, settings

    from tests.browser import story
    from tests.support import databases
    from tests.support.project import LiveProject

    settings.PASSWORD_HASHERS = global_settings.PASSWORD_HASHERS
    env = {"AGENTOPS_DEMO_LATENCY_S": "0.8"}
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        with databases.fresh(root) as url, databases.rows_of(url):
            project = LiveProject(root, url, env)
            try:
                project.manage("migrate", "--verbosity", "0")
                project.start_web()
                project.start_worker()
                story.set_the_scene(project)
                yield project, _addresses(story.tell(project))
            finally:
                project.stop()


def _addresses(told) -> dict[str, tuple[str, str]]:
    """By the name of the picture: whose page it is, and its address."""
    from tests.browser import scene

    undo, alike = _decided(), _alike()
    expired = scene.letter("board@company.com", minutes_left=-30)
    _expire(expired)
    scene.full()
    picks = "&".join(f"pick={one.pk}" for one in [*alike[:3], told.parked])
    done = told.done.id
    return {
        "inbox": ("operator", f"/reviews/?item={told.parked.id}"),
        "inbox-empty": ("operator", "/reviews/?view=mine"),
        "review": ("operator", f"/reviews/{told.parked.id}/"),
        "question": ("operator", f"/reviews/{told.question.id}/"),
        "budget": ("operator", f"/reviews/{told.budget.id}/"),
        "decided": ("operator", f"/reviews/{told.decided.id}/"),
        "undo": ("operator", f"/reviews/{undo.pk}/"),
        "expired": ("operator", f"/reviews/{expired.pk}/"),
        "stale": ("operator", ""),
        "preflight": ("operator", f"/reviews/together/?{picks}"),
        "alike": ("operator", f"/reviews/alike/{alike[0].shape}/"),
        "profile": ("operator", "/reviews/profile/"),
        "fork": ("operator", f"/runs/{done}/steps/4/fork/"),
        "run": ("submitter", f"/runs/{done}/"),
        "run-parked": ("submitter", f"/runs/{told.parked.run_id}/"),
        "submit": ("submitter", "/runs/new/?agent=quarterly-metrics"),
    }


def _decided():
    """Approved with a long note, and open to be taken back as long as one looks."""
    from django.contrib.auth.models import User

    from reviews import services
    from runs.models import Tool
    from tests.browser import story

    review = story.park()
    Tool.objects.filter(name=review.tool).update(undo_s=STAYS_S)
    services.decide(
        review.pk,
        by=User.objects.get(username="operator"),
        kind="approve",
        item_version=review.version,
        digest=review.digest,
        payload={"note": story.NOTE},
    )
    Tool.objects.filter(name=review.tool).update(undo_s=None)
    return review


def _alike() -> list:  # type: ignore[type-arg] # of reviews, known once Django is up
    """Four pages of one shop, and one of another: look-alikes with one that differs."""
    from django.contrib.auth.models import User

    from runs.tools import registry
    from tests.support import factory, lookalikes

    agent = factory.make_agent(
        name="Price watch", grants={"http_request": {"policy": "ask_below"}}
    )
    pages = [f"https://shop.example.com/prices/{number}" for number in range(4)]
    return [
        lookalikes.parked(
            registry.get("http_request"),
            {"method": "GET", "url": url, "headers": {}},
            agent,
            by=User.objects.get(username="submitter"),
        )
        for url in [*pages, "https://elsewhere.example.net/prices/9"]
    ]


def _expire(review) -> None:
    from agentops import clock
    from reviews import expiring
    from reviews.models import Review

    Review.objects.filter(pk=review.pk).update(expires_at=clock.now())
    expiring.expire()


def _take(browser, project, addresses, folder, size, theme) -> None:
    from tests.browser.visit import visit

    for who in ("operator", "submitter"):
        with visit(browser, project, who, size=SIZES[size], theme=theme) as page:
            for what, (whose, address) in addresses.items():
                if whose != who:
                    continue
                _be_late(page) if what == "stale" else page.goto(address)
                if (what, size) == ("inbox", "wide"):
                    page.locator("#detail .bar").wait_for()
                is_kept = (what, size, theme) == KEPT
                file = f"{what}.png" if is_kept else f"{what}-{size}-{theme}.png"
                if size == "narrow":
                    _stretch(page, size)
                page.screenshot(path=folder / file, animations="disabled")


def _stretch(page, size) -> None:
    """As high as the page is, so that bars which stick end it as they do on a phone."""
    page.set_viewport_size(SIZES[size])
    page.evaluate("scrollTo(0, 0)")
    height = page.evaluate("document.documentElement.scrollHeight")
    page.set_viewport_size(SIZES[size] | {"height": height})


def _be_late(page) -> None:
    """Reject what another person has aborted since the page was opened."""
    from django.contrib.auth.models import User

    from reviews import services
    from tests.browser import scene

    review = scene.letter("payments@brandt.example")
    page.goto(f"/reviews/{review.pk}/")
    services.decide(
        review.pk,
        by=User.objects.get(username="admin"),
        kind="abort",
        item_version=review.version,
        payload={"text": "The invoice was paid by hand this morning."},
    )
    page.keyboard.press("r")
    page.locator("#decide-reject textarea").first.fill("Not before the audit.")
    page.keyboard.press("Control+Enter")
    page.get_by_text("409").wait_for()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("docs/images"))
