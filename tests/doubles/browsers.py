"""Pages in headless Chromium: what they asked for, and what they complained of."""

from __future__ import annotations

import contextlib
import os
import shutil

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 900}

NEEDS_BROWSER = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed: apt-get install chromium"),
]


@contextlib.contextmanager
def chromium():
    """A browser that has been started."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: scripts/setup dev")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(
            executable_path=CHROMIUM, args=FLAGS, env={**os.environ, "NO_PROXY": "*"}, timeout=60_000
        )
        yield started
        started.close()


class Watched:
    """A page that is opened; at its end it must have asked for nothing elsewhere and complained of nothing."""

    patience = 10_000
    """Milliseconds that an element may take."""

    def __init__(self, browser, address, viewport=DESKTOP, scheme="light", **how):
        self.context = browser.new_context(viewport=viewport, color_scheme=scheme, **how)
        self.context.set_default_timeout(self.patience)
        self.page = self.context.new_page()
        self.requests, self.complaints = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.address = address
        self.page.goto(address)

    def __enter__(self):
        return self.page

    def __exit__(self, kind, *_):
        if kind is None:
            outside = [url for url in self.requests if not self.may_ask_for(url)]
            assert outside == []
            assert self.complaints == []
        self.context.close()

    def may_ask_for(self, url):
        """Whether it is the page itself, or part of it."""
        return url == self.address or url.startswith("data:")
