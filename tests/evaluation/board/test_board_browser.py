"""The board in a real browser: whole games by clicks, drags, keys and lists, on a desktop and on a phone."""

from __future__ import annotations

import time

import pytest

pytest.importorskip("uvicorn", reason="needs uvicorn: scripts/setup board")

from doubles.board_server import served  # after the check for it
from doubles.browsers import DESKTOP, NEEDS_BROWSER, PHONE, Watched

from zermelo.evaluation.board.settings import BoardSettings

SIZES = [pytest.param(PHONE, id="phone"), pytest.param(DESKTOP, id="desktop")]

pytestmark = NEEDS_BROWSER


class Page(Watched):
    """A page of a board."""

    patience = 20_000

    def __init__(self, browser, client, size, scheme="light"):
        self.client = client
        phone = size is PHONE
        super().__init__(browser, client.link, size, scheme, has_touch=phone, is_mobile=phone)
        self.wait(lambda: self.status())

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            root = self.page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
            assert root[0] <= root[1], "it scrolls sideways"
            assert "#" not in self.page.url, "the token is left in the address"
        super().__exit__(kind)

    def may_ask_for(self, url):
        ours = f"http://127.0.0.1:{self.client.port}/"
        return url.startswith((ours, "data:", f"blob:{ours}"))

    def wait(self, test, seconds=30.0):
        ends = time.monotonic() + seconds
        while not (found := test()):
            assert time.monotonic() < ends, (self.status(), self.page.inner_text("#problem"))
            time.sleep(0.02)
        return found

    def status(self):
        return self.page.inner_text("#status")

    def my_turn(self):
        """Waits until it is the person's turn, or the game is over; whether it is."""
        return self.wait(lambda: "over" in self.status() or not self.page.is_disabled("#move")) and (
            "over" not in self.status()
        )

    def spot(self, name):
        return self.page.locator(f'#spots [data-name="{name}"]')

    def drag(self, start, end):
        boxes = [self.spot(name).bounding_box() for name in (start, end)]
        (x, y), (to_x, to_y) = ((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes)
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move((x + to_x) / 2, (y + to_y) / 2, steps=3)
        assert self.page.locator(".ghost").count() == 1
        self.page.mouse.move(to_x, to_y)
        self.page.mouse.up()
        assert self.page.locator(".ghost").count() == 0

    def moves(self):
        return self.page.eval_on_selector_all("#moves button", "all => all.map(one => one.textContent)")


@pytest.mark.thorough
@pytest.mark.parametrize("size", SIZES)
def test_chess_by_click_drag_and_promotion(browser, size):
    """Mate in two, by a pawn that becomes a queen; Black's only move is Kg8."""
    env = 'zermelo/Chess-v0(fen="7k/8/P5K1/8/8/8/8/8 w - - 0 1")'
    with served(BoardSettings(env=env, opponent="random")) as client, Page(browser, client, size) as board:
        board.my_turn()
        assert board.spot("a6").get_attribute("aria-label") == "a6, P"
        assert board.spot("b6").get_attribute("aria-label") == "b6, empty"
        board.spot("a6").click()
        assert board.spot("a7").get_attribute("class") == "free target"
        board.spot("a7").click()
        board.wait(lambda: board.moves() == ["a7", "Kg8"])
        board.my_turn()
        board.drag("a7", "a8")
        offered = board.page.locator("#choice button")
        assert offered.all_inner_texts() == ["a8=Q#", "a8=N", "a8=B", "a8=R+"] or offered.count() == 4
        board.page.get_by_role("button", name="a8=Q#").first.click()
        board.wait(lambda: "white wins" in board.status())
        assert board.moves() == ["a7", "Kg8", "a8=Q#"]
        board.page.click("#previous")
        board.wait(lambda: board.status() == "Position after move 2 of 3")
        board.page.click("#last")
        board.page.click("#back")
        board.wait(lambda: board.moves() == ["a7", "Kg8"])


@pytest.mark.thorough
@pytest.mark.parametrize("size", SIZES)
def test_connect_four_by_columns_and_its_review(browser, size):
    env = "zermelo/ConnectFour-v0(rows=4, columns=4)"
    settings = BoardSettings(env=env, opponent="doubles.bad_agents:First", analyst="alphabeta(depth=6)")
    with served(settings) as client, Page(browser, client, size, "dark") as board:
        for _ in range(4):
            board.my_turn()
            before = len(board.moves())
            board.spot("b").click()
            board.wait(lambda n=before: len(board.moves()) > n)
        board.wait(lambda: "player_0 wins" in board.status())
        assert board.moves() == ["b", "a", "b", "a", "b", "a", "b"]
        board.page.click("#review")
        board.wait(lambda: board.page.locator("#proofs tr").count() == 2)
        assert board.page.locator("#chart polyline").count() == 1
        assert "player_0 (you)" in board.page.inner_text("#accuracy")


@pytest.mark.thorough
@pytest.mark.parametrize("size", [pytest.param(*SIZES[0].values, id="phone", marks=pytest.mark.slow), SIZES[1]])
def test_a_whole_game_of_hypergammon_by_its_points(browser, size):
    settings = BoardSettings(env="zermelo/Hypergammon-v0", opponent="random", seed=4)
    with served(settings) as client, Page(browser, client, size) as board:
        turns = 0
        while board.my_turn():
            table = board.page.evaluate("sessionStorage.getItem('table')")
            legal = client.ask("GET", f"/api/tables/{table}").json()["legal"]
            before = len(board.moves())
            move = legal[-1]
            if not move["paths"] or turns > 6:  # after some turns the list is as good
                board.page.fill("#move", move["label"])
                board.page.click("#typed button")
            else:
                for name in move["paths"][0]:
                    if board.page.is_disabled("#move"):
                        break
                    board.spot(name).click()
                if board.page.is_visible("#choice"):
                    board.page.locator("#choice button").first.click()
            board.wait(lambda n=before: len(board.moves()) > n)
            turns += 1
        assert "The game is over" in board.status()
        assert turns > 3


@pytest.mark.thorough
def test_keys_hint_analysis_and_taking_back(browser):
    settings = BoardSettings(env="zermelo/MNK-v0", opponent="minimax")
    with served(settings) as client, Page(browser, client, DESKTOP) as board:
        board.my_turn()
        board.page.click("#hint")
        board.wait(lambda: board.page.locator("#spots .hinted").count() == 1)
        board.page.focus('#spots [data-name="a3"]')
        for key in ("ArrowRight", "ArrowDown", "Enter"):
            board.page.keyboard.press(key)
        board.wait(lambda: board.moves()[:1] == ["b2"] and len(board.moves()) == 2)
        board.page.click("#analyse")
        board.wait(lambda: board.page.locator("#values tr").count() == 7)
        assert "proven" in board.wait(
            lambda: (text := board.page.inner_text("#figures")) and "proven" in text and text
        )
        board.page.fill("#move", "q9")
        board.page.click("#typed button")
        board.wait(lambda: "'q9', which is not legal" in board.page.inner_text("#problem"))
        board.complaints.clear()  # the browser tells of the refused request
        board.page.click("#back")
        board.wait(lambda: board.moves() == [])
        board.page.reload()
        board.wait(lambda: board.status() == "Your turn")


@pytest.mark.thorough
def test_cards_are_played_from_a_list_and_none_of_the_others_is_shown(browser):
    settings = BoardSettings(env="zermelo/Leduc-v0", opponent="random")
    with served(settings) as client, Page(browser, client, PHONE) as board:
        while board.my_turn():
            assert "player 1: ?" in board.page.inner_text("#text")
            assert board.page.locator("#frame").is_hidden()
            before = len(board.moves())
            board.page.locator("#legal button").first.click()
            board.wait(lambda n=before: len(board.moves()) > n)
        assert "?" not in board.page.inner_text("#text")


@pytest.mark.thorough
def test_another_page_with_a_wrong_link_is_told_so(browser):
    with served(BoardSettings(env="zermelo/MNK-v0", opponent="random")) as client:
        context = browser.new_context()
        page = context.new_page()
        page.goto(client.link[:-1])
        page.get_by_text("The server refuses").wait_for(timeout=10_000)
        page.goto("about:blank")
        page.goto(client.link.partition("#")[0])
        context.close()
        fresh = browser.new_context().new_page()
        fresh.goto(client.link.partition("#")[0])
        fresh.get_by_text("token is missing").wait_for(timeout=10_000)
        assert fresh.url.endswith("/")
