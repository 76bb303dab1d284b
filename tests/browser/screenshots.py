"""Pictures of the four main pages, made from the real product.

    python -m tests.browser.screenshots [folder]

Inbox, review, run and new task, 1440 and 360 pixels wide, light and dark. The folder
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
SETTLE_MS = 400


def main(folder: Path) -> None:
    """Needs Chromium and the requirements of development; takes about a minute."""
    folder.mkdir(parents=True, exist_ok=True)
    with _told() as (project, story):
        from tests.support.browser import launched

        with launched() as browser:
            for name, size in SIZES.items():
                for theme in ("light", "dark"):
                    _take(browser, project, story, folder, name, size, theme)


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
                yield project, story.tell(project)
            finally:
                project.stop()


def _take(browser, project, story, folder, name, size, theme) -> None:
    from tests.browser.visit import visit

    shown = {
        "inbox": ("operator", f"/reviews/?item={story.parked.id}"),
        "review": ("operator", f"/reviews/{story.parked.id}/"),
        "run": ("submitter", f"/runs/{story.done.id}/"),
        "submit": ("submitter", "/runs/new/?agent=quarterly-metrics"),
    }
    for who in ("operator", "submitter"):
        with visit(browser, project, who, size=size, theme=theme) as page:
            for what, (whose, address) in shown.items():
                if whose == who:
                    page.goto(address)
                    page.wait_for_timeout(SETTLE_MS)
                    is_kept = (what, name, theme) == KEPT
                    file = f"{what}.png" if is_kept else f"{what}-{name}-{theme}.png"
                    page.screenshot(path=folder / file)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("docs/images"))
