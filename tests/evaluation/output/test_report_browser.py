"""The report in a real browser: it asks nothing of any network, and a game can be stepped through."""

import os
import re
import shutil

import pytest
from doubles.made_games import made_records

from zermelo.evaluation import play_match
from zermelo.evaluation.output.report import report_page
from zermelo.evaluation.storage.files import write_text

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 900}

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed: apt-get install chromium"),
]


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install 'zermelo[dev]'")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(
            executable_path=CHROMIUM, args=FLAGS, env={**os.environ, "NO_PROXY": "*"}, timeout=60_000
        )
        yield started
        started.close()


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    pytest.importorskip("pettingzoo.classic")
    agents = ["alphabeta(depth=2)", "random"]
    records = [play_match("classic/connect_four-v3", agents, seed=0)]
    records += [play_match("classic/connect_four-v3", agents[::-1], seed=1, opening=(3, 3))]
    path = tmp_path_factory.mktemp("played") / "report.html"
    write_text(path, report_page(records))
    return path, records


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    names = ("strong", "a rather long name of an agent (depth=12, evaluator=something)", "<b>weak</b>", "broken")
    path = tmp_path_factory.mktemp("large") / "report.html"
    write_text(path, report_page(made_records(1500, names=names)))
    return path


class Watched:
    """A page, with what it asked for and what it complained of."""

    def __init__(self, browser, path, viewport=DESKTOP, scheme="light"):
        self.context = browser.new_context(viewport=viewport, color_scheme=scheme)
        self.context.set_default_timeout(10_000)
        self.page = self.context.new_page()
        self.requests, self.complaints = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.address = path.as_uri()
        self.page.goto(self.address)

    def __enter__(self):
        return self.page

    def __exit__(self, kind, *_):
        if kind is None:
            outside = [url for url in self.requests if url != self.address and not url.startswith("data:")]
            assert outside == []
            assert self.complaints == []
        self.context.close()


def status(page):
    return page.inner_text("#status")


def stones(page):
    return page.eval_on_selector_all("#board .stone", "cells => cells.map(cell => cell.dataset.mark).join('')")


def choose(page, record):
    """Opens the game of a record."""
    labels = page.eval_on_selector_all("#game option", "all => all.map(one => one.textContent)")
    place = next(k for k, label in enumerate(labels) if " \N{EN DASH} ".join(record.agents) in label)
    page.select_option("#game", index=place)


def test_keys_step_through_a_game(browser, played):
    path, records = played
    record = records[0]
    last = len(record.moves)
    with Watched(browser, path) as page:
        choose(page, record)
        page.focus("#viewer")
        assert "Start of the game" in status(page)
        assert stones(page) == ""
        for ply, move in enumerate(record.moves, start=1):
            page.keyboard.press("ArrowRight")
            assert status(page).startswith(f"Move {ply} of {last}: {record.agents[move.seat]} plays {move.action}")
            assert len(stones(page)) == ply
            if move.nodes is not None:
                assert f"{move.nodes} nodes" in status(page)
            assert page.locator("#moves [aria-current]").get_attribute("data-ply") == str(ply)
        page.keyboard.press("ArrowRight")
        assert "wins" in status(page)
        page.keyboard.press("ArrowLeft")
        assert status(page).startswith(f"Move {last - 1} of")
        page.keyboard.press("Home")
        assert "Start of the game" in status(page)
        page.keyboard.press("End")
        assert status(page).startswith(f"Move {last} of")
        assert page.locator("#board .new").count() == 1


def test_buttons_the_slider_and_the_list_step_too(browser, played):
    path, records = played
    record = records[1]
    last = len(record.actions)
    with Watched(browser, path) as page:
        choose(page, record)
        page.click("#forward")
        assert status(page).startswith(f"Move 1 of {last}: the opening plays 3, written 4")
        assert page.inner_text("#action-heading") == "action (written)"
        assert page.inner_text("#moves tr:nth-child(1) td:nth-child(3)") == "3 (4)"
        page.click("#last")
        assert status(page).startswith(f"Move {last} of")
        assert page.locator("#forward").is_disabled()
        page.click("#back")
        page.click("#first")
        assert page.locator("#back").is_disabled()
        page.fill("#slide", "2")
        assert status(page).startswith("Move 2 of")
        page.click("#moves tr:nth-child(4)")
        assert status(page).startswith("Move 4 of")
        page.click("#first")
        page.click("#play")
        page.locator("#moves tr[data-ply='2'][aria-current]").wait_for()
        page.click("#play")
        at = status(page)
        page.wait_for_timeout(900)
        assert status(page) == at


def test_games_can_be_found(browser, large):
    with Watched(browser, large) as page:
        assert page.locator("#game option").count() == 100
        page.select_option("#why", "failure")
        labels = page.eval_on_selector_all("#game option", "all => all.map(one => one.textContent)")
        assert len(labels) >= 30
        assert all(re.search("(crash|illegal action) by broken", label) for label in labels)
        before = page.inner_text("#result")
        page.focus("#viewer")
        page.keyboard.press("n")
        assert page.inner_text("#result") != before
        page.keyboard.press("p")
        assert page.inner_text("#result") == before
        assert "</script><b>no</b>" in before
        page.select_option("#why", "upset")
        page.select_option("#agent", label="strong")
        labels = page.eval_on_selector_all("#game option", "all => all.map(one => one.textContent)")
        assert all("strong" in label for label in labels)
        assert page.locator("#viewer b").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "viewport", [PHONE, {"width": 320, "height": 600}, DESKTOP], ids=lambda v: str(v["width"])
)
def test_no_width_needs_scrolling_sideways(browser, large, viewport, scheme):
    with Watched(browser, large, viewport, scheme) as page:
        page.click("#last")
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= viewport["width"]
        # What may be pressed on a phone is large enough for a finger.
        heights = page.eval_on_selector_all(
            "#viewer button, #viewer select", "all => all.map(e => e.offsetHeight)"
        )
        assert min(heights) >= 44


def test_paper_is_wide_enough(browser, large, played):
    for path in (large, played[0]):
        with Watched(browser, path, {"width": 794, "height": 1123}) as page:  # A4
            page.emulate_media(media="print")
            assert page.evaluate("document.documentElement.scrollWidth") <= 794


def test_names_stay_in_sight_where_a_table_is_scrolled(browser, large):
    with Watched(browser, large, PHONE) as page:
        table, name = page.locator("#ratings .scroll"), page.locator("#ratings tbody th").first
        table.evaluate("table => { table.scrollLeft = 10000; }")
        assert table.evaluate("table => table.scrollLeft") > 50
        assert name.bounding_box()["x"] == pytest.approx(table.bounding_box()["x"], abs=1)


def contrast(first, second):
    """The contrast ratio of two colours (WCAG 2.1)."""

    def luminance(colour):
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_both_schemes(browser, large, scheme):
    with Watched(browser, large, DESKTOP, scheme) as page:

        def colour(selector, name):
            return page.eval_on_selector(selector, f"e => getComputedStyle(e).{name}")

        card = colour("section#ratings", "backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", card)[:3])) < 200) == (scheme == "dark")
        for selector in ("h2", ".about", "caption", "tbody th", "thead th", ".fault", "#status", "#forward"):
            assert contrast(colour(selector, "color"), card) >= 4.5, selector


def test_print_shows_tables_without_controls(browser, large):
    with Watched(browser, large, DESKTOP, "dark") as page:
        page.emulate_media(media="print")
        assert not page.locator("#forward").is_visible()
        assert not page.locator("nav").is_visible()
        assert page.locator("#ratings table").is_visible()
        assert page.locator("#board").is_visible()
        assert page.eval_on_selector("body", "e => getComputedStyle(e).backgroundColor") == "rgb(255, 255, 255)"
        assert len(page.pdf()) > 10_000


def test_everything_has_a_name_for_those_who_do_not_see_it(browser, played):
    path, _ = played
    with Watched(browser, path) as page:
        nameless = page.evaluate(
            """() => [...document.querySelectorAll('button, select, input')].filter(e =>
                 !e.getAttribute('aria-label') && !e.textContent.trim() && !(e.labels && e.labels.length))
                 .map(e => e.outerHTML)"""
        )
        assert nameless == []
        unlabelled = page.eval_on_selector_all(
            "svg[role=img]", "all => all.filter(e => !e.getAttribute('aria-label')).length"
        )
        assert unlabelled == 0
        assert page.get_by_role("img", name=re.compile("^Board, row by row")).count() == 1
        assert page.get_by_role("status").count() == 1


def test_without_script_the_tables_are_there(browser, large):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(large.as_uri())
    assert page.locator("#ratings table").is_visible()
    assert page.get_by_text("needs JavaScript").is_visible()
    assert not page.locator("#viewer").is_visible()
    context.close()
