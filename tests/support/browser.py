"""A headless Chromium for the tests that look at pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connections
from playwright.sync_api import Browser, Error, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # One site, one page: processes for others would only cost.
    "--disable-site-isolation-trials",
    "--disable-features=SpareRendererForSitePerProcess",
)


def executable() -> str | None:
    """The path of a Chromium: `CHROMIUM` if that is set, else what is in PATH."""
    given = os.environ.get("CHROMIUM")
    names = (given,) if given else NAMES
    return next(filter(None, map(shutil.which, names)), None)


@contextmanager
def launched() -> Iterator[Browser]:
    """A browser for the block; skips the test that asked if there is none."""
    path = executable()
    if path is None:
        pytest.skip("no Chromium found: install it or set CHROMIUM to its path")
    # Playwright runs an event loop in this thread; the ORM is used from it too.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        except Error as error:
            pytest.skip(f"Chromium does not start: {error.message.splitlines()[0]}")
        yield browser
        # Those of this thread with a loop; without it, it has others.
        connections.close_all()
        browser.close()
