"""The report in a real browser: it asks nothing of any network, and a game can be stepped through."""

import re
from dataclasses import replace

import pytest
from doubles.browsers import DESKTOP, NEEDS_BROWSER, PHONE, Watched
from doubles.made_games import made_records

from zermelo.evaluation import play_match
from zermelo.evaluation.analysis.judge import Judge, JudgeWork
from zermelo.evaluation.report.page import report_page
from zermelo.evaluation.storage.files import write_text

pytestmark = NEEDS_BROWSER


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
def judged(tmp_path_factory):
    """Two games in which greedy throws something away, with what the judge says of them."""
    pytest.importorskip("pettingzoo.classic")
    agents = ["greedy", "random"]
    records = [
        replace(play_match("classic/tictactoe-v3", agents[:: 1 - 2 * turn], seed=seed), game_id=f"{seed}.0.{turn}")
        for seed, turn in ((0, 0), (1, 1), (2, 0))
    ]
    judging = Judge(JudgeWork())
    verdicts = {found.game_id: found for found in judging.judged(records)}
    table = judging.table()
    path = tmp_path_factory.mktemp("judged") / "report.html"
    beside = {"judged": table.to_dict(), "verdicts": lambda wanted: verdicts}
    write_text(path, report_page(records, **beside))
    return path, records, verdicts


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    names = ("strong", "a rather long name of an agent (depth=12, evaluator=something)", "<b>weak</b>", "broken")
    path = tmp_path_factory.mktemp("large") / "report.html"
    write_text(path, report_page(made_records(1500, names=names)))
    return path


def status(page):
    return page.inner_text("#status")


def stones(page):
    return page.eval_on_selector_all("#board .stone", "cells => cells.map(cell => cell.dataset.mark).join('')")


def choose(page, record):
    """Opens the game of a record."""
    titles = page.eval_on_selector_all("#game option", "all => all.map(one => one.title)")
    place = titles.index(" \N{EN DASH} ".join(record.agents))
    page.select_option("#game", index=place)


@pytest.mark.thorough
def test_keys_step_through_a_game(browser, played):
    path, records = played
    record = records[0]
    last = len(record.moves)
    with Watched(browser, path.as_uri()) as page:
        choose(page, record)
        page.focus("#viewer")
        assert status(page).startswith(f"Move {last} of {last}")
        page.keyboard.press("Home")
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


@pytest.mark.thorough
def test_buttons_the_slider_and_the_list_step_too(browser, played):
    path, records = played
    record = records[1]
    last = len(record.actions)
    with Watched(browser, path.as_uri()) as page:
        choose(page, record)
        page.click("#first")
        page.click("#forward")
        assert status(page).startswith(f"Move 1 of {last}: the opening plays 3, written d")
        assert page.inner_text("#action-heading") == "action (written)"
        assert page.inner_text("#moves tr:nth-child(1) td:nth-child(3)") == "3 (d)"
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


@pytest.mark.thorough
def test_the_judge_is_in_the_viewer(browser, judged):
    path, records, verdicts = judged
    worse = {"m": "mistake", "d": "draw thrown away", "w": "win thrown away"}
    record = next(one for one in records if any(move.mark in worse for move in verdicts[one.game_id].moves))
    mistakes = [move for move in verdicts[record.game_id].moves if move.mark in worse]
    with Watched(browser, path.as_uri()) as page:
        page.select_option("#why", "blunder")
        labels = page.eval_on_selector_all("#game option", "all => all.map(one => one.textContent)")
        assert all("blunder" in label for label in labels)
        page.select_option("#why", "")
        place = next(k for k in range(3) if record.game_id in page.locator("#game option").nth(k).text_content())
        page.select_option("#game", index=place)
        assert status(page).startswith(f"Move {mistakes[0].ply + 1} of")
        assert page.locator("#mistakes button").count() == len(mistakes)
        assert page.locator("#moves .mark").count() == len(mistakes)
        for move in mistakes:
            text = page.inner_text("#verdict")
            assert worse[move.mark] in text
            assert f"best, {'wins' if max(move.values.values()) > 0 else 'draws'}" in text
            assert page.locator("#verdict li span:not(.worth)").count() == len(move.values)
            assert page.locator("#verdict .played").count() == 1
            page.keyboard.press("b")
        page.click("#last")
        page.locator("#mistakes button").first.click()
        assert status(page).startswith(f"Move {mistakes[0].ply + 1} of")
        assert "proven" in page.inner_text("#chart")
        assert page.eval_on_selector(".moves", "e => e.scrollWidth <= e.clientWidth")  # no column is cut
        assert "Value for" in page.locator("#bar").get_attribute("aria-label")
        assert page.eval_on_selector_all("#board .low", "all => all.map(e => e.textContent)") == [
            "",
            "a",
            "b",
            "c",
        ]


@pytest.mark.thorough
def test_tables_are_sorted_and_saved(browser, played):
    with Watched(browser, played[0].as_uri()) as page:
        heading = page.locator("#ratings thead th", has_text="lost")
        for order in ("descending", "ascending"):
            heading.locator("button").click()
            assert heading.get_attribute("aria-sort") == order
            cells = page.eval_on_selector_all(
                "#ratings tbody tr td:nth-child(8)", "all => all.map(e => +e.textContent)"
            )
            assert cells == sorted(cells, reverse=order == "descending")
        with page.expect_download() as saved:
            page.click("#ratings .csv")
        text = saved.value.path().read_text("utf-8-sig")
        assert text.splitlines()[0].startswith("#,agent,Elo")
        assert len(text.splitlines()) == 3


@pytest.mark.thorough
def test_games_can_be_found(browser, large):
    with Watched(browser, large.as_uri()) as page:
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


@pytest.mark.thorough
@pytest.mark.parametrize(
    "viewport", [PHONE, {"width": 320, "height": 600}, DESKTOP], ids=lambda v: str(v["width"])
)
def test_no_width_needs_scrolling_sideways(browser, large, viewport):
    with Watched(browser, large.as_uri(), viewport) as page:
        page.click("#first")
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= viewport["width"]
        # What may be pressed on a phone is large enough for a finger.
        heights = page.eval_on_selector_all(
            "#viewer button, #viewer select", "all => all.map(e => e.offsetHeight)"
        )
        assert min(heights) >= 44


def contrast(first, second):
    """The contrast ratio of two colours (WCAG 2.1)."""

    def luminance(colour):
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.thorough
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_both_schemes(browser, large, scheme):
    with Watched(browser, large.as_uri(), DESKTOP, scheme) as page:

        def colour(selector, name):
            return page.eval_on_selector(selector, f"e => getComputedStyle(e).{name}")

        card = colour("section#ratings", "backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", card)[:3])) < 200) == (scheme == "dark")
        for selector in ("h2", ".about", "caption", "tbody th", "thead th", ".fault", "#status", "#forward"):
            assert contrast(colour(selector, "color"), card) >= 4.5, selector


@pytest.mark.thorough
def test_everything_has_a_name_for_those_who_do_not_see_it(browser, played):
    path, _ = played
    with Watched(browser, path.as_uri()) as page:
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


@pytest.mark.thorough
def test_without_script_the_tables_are_there(browser, large):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(large.as_uri())
    assert page.locator("#ratings table").is_visible()
    assert page.get_by_text("needs JavaScript").is_visible()
    assert not page.locator("#viewer").is_visible()
    context.close()


@pytest.mark.thorough
def test_contents_and_names_stay_in_sight(browser, large):
    with Watched(browser, large.as_uri(), PHONE) as page:
        table, name = page.locator("#ratings .scroll"), page.locator("#ratings tbody th").first
        table.evaluate("table => { table.scrollLeft = 10000; }")
        assert table.evaluate("table => table.scrollLeft") > 50
        assert name.bounding_box()["x"] == pytest.approx(table.bounding_box()["x"], abs=1)
        page.evaluate("window.scrollTo({top: document.getElementById('effort').offsetTop, behavior: 'instant'})")
        page.locator("nav a[href='#effort'][aria-current]").wait_for()
        assert page.locator("nav").bounding_box()["y"] == pytest.approx(0, abs=1)


@pytest.mark.thorough
def test_paper_shows_tables_without_controls_and_is_wide_enough(browser, large, played):
    for path in (large, played[0]):
        with Watched(browser, path.as_uri(), {"width": 794, "height": 1123}, "dark") as page:  # A4
            page.emulate_media(media="print")
            assert page.evaluate("document.documentElement.scrollWidth") <= 794
            for selector, is_shown in (
                ("#forward", False),
                ("nav", False),
                ("#ratings table", True),
                ("#board", True),
            ):
                assert page.locator(selector).is_visible() is is_shown, selector
            white = "rgb(255, 255, 255)"
            assert page.eval_on_selector("body", "e => getComputedStyle(e).backgroundColor") == white
