"""Whole games on the board by its server: hints, analysis, review and files, and games that do not wait."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from zermelo.evaluation.board.settings import BoardSettings

pytest.importorskip("starlette", reason="needs Starlette: scripts/setup board")
pytest.importorskip("uvicorn", reason="needs uvicorn: scripts/setup board")

from doubles.board_server import Client, Player, served  # after the check for it

MNK = "zermelo/MNK-v0"


def test_a_whole_game_with_hint_analysis_review_and_files(client: Client) -> None:
    player = Player(client)
    assert player.get("surface").json()["columns"] == ["a", "b", "c"]
    assert player.get("pictures/0").content.startswith(b"\x89PNG")
    assert player.do("hint").status == 200
    hinted = player.until(lambda view: view["hint"] is not None)
    assert hinted["hint"] in [move["number"] for move in hinted["legal"]]
    assert player.do("analyse", on=True, agent="alphabeta").status == 200
    found = player.until(lambda view: view["analysis"] and view["analysis"]["proven"])["analysis"]
    assert found["value"] == 0.0
    assert len(found["actions"]) == 9
    assert found["line"][0] in [move["label"] for move in found["actions"] if move["number"] == found["best"]]
    version = player.view()["version"]
    assert player.do("play", move="b2").status == 200
    assert player.do("play", move="b2").json()["error"]
    waited = client.ask("GET", f"/api/tables/{player.table}?after={version}").json()
    assert waited["version"] > version
    view = player.until(lambda view: view["yours"] and len(view["moves"]) == 2)
    assert view["moves"][0]["text"] == "b2"
    assert view["moves"][1]["nodes"] > 0
    assert player.until(lambda view: view["analysis"])["analysed"] == 2  # it has followed
    assert player.do("back").status == 200
    assert player.view()["moves"] == []
    while not view["over"]:
        view = player.until(lambda view: view["yours"] or view["over"])
        if view["yours"]:
            player.do("play", move=view["legal"][0]["number"])
    assert "The game is over" in view["over"]
    assert player.do("hint").status == 400
    assert player.do("analyse", on=True).status == 400
    assert player.do("review").status == 200
    review = player.until(lambda view: (view["review"] or {}).get("judged"))["review"]
    assert len(review["values"]) == len(view["moves"]) + 1
    assert review["seats"][1]["best"] == review["seats"][1]["moves"]  # minimax makes no mistake
    assert review["judged"]["agents"][0]["optimal"] == review["judged"]["agents"][0]["judged"] > 0
    saved = player.get("files/json").text
    player.do("new", opponent="random", seat=1, seed=3)
    assert player.until(lambda view: view["yours"])["people"] == [1]
    assert player.do("load", text=saved).status == 200
    assert player.view()["over"] == view["over"]
    assert player.do("swap").status == 200
    assert player.view()["people"] == [0]


def test_simultaneous_clicks_play_one_move() -> None:
    with served(BoardSettings(env=MNK, opponent="random")) as client:
        player = Player(client)
        view = player.view()
        with ThreadPoolExecutor(6) as pool:
            moves = [move["number"] for move in view["legal"][:6]]
            clicks = [pool.submit(player.do, "play", move=move, turn=view["turn"]) for move in moves]
        answers = [click.result() for click in clicks]
        assert sorted(answer.status for answer in answers) == [200, *[400] * 5]
        view = player.until(lambda view: view["yours"])
        assert len(view["moves"]) == 2
        old = player.do("play", move=view["legal"][0]["number"], turn=view["turn"] - 1).json()["error"]
        assert "the position has changed, so look at it and choose again" in old
        player.do("new", opponent="random", seat=0)
        late = player.do("play", move=4, turn=view["turn"])
        assert (late.status, player.view()["moves"]) == (400, [])
        assert player.do("play", move=4).status == 200


def test_one_search_that_never_ends_holds_up_no_other_game() -> None:
    """Minimax in plain Python on an empty board of 25 squares."""
    slow = BoardSettings(env="zermelo/MNK-v0(m=5, n=5, k=4)", opponent="minimax(backend=clone)", seat=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("zermelo.evaluation.board.jobs._PATIENCE", 0.2)
        with served(slow) as client:
            thinking, other = Player(client), Player(client)
            assert thinking.view()["thinking"]
            assert other.do("new", opponent="random", seat=0).status == 200
            started = time.monotonic()
            assert other.until(lambda view: view["yours"])["moves"] == []
            other.do("play", move="c3")
            other.until(lambda view: len(view["moves"]) == 2)
            assert time.monotonic() - started < 5
            assert thinking.view()["thinking"]
            thinking.do("new", opponent="random", seat=1)  # it does not listen, and is killed
            thinking.until(lambda view: view["yours"], 20)


def test_what_an_agent_waits_for_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setenv("ZERMELO_CACHE_DIR", str(tmp_path))
    with served(BoardSettings(env="zermelo/Chomp-v0", opponent="alphabeta(depth=2)", seat=1)) as client:
        player = Player(client)
        view = player.until(lambda view: view["waits"] or view["moves"], 60)
        assert "compiling the rules of Chomp for this machine" in view["waits"]
        view = player.until(lambda view: view["yours"], 60)
        assert (view["waits"], len(view["moves"])) == ("", 1)


def test_an_agent_that_fails_is_a_sentence() -> None:
    with served(BoardSettings(env=MNK, opponent="doubles.bad_agents:Raises", seat=1)) as client:
        view = Player(client).until(lambda view: view["problem"])
        assert "raised" in view["problem"]


def test_a_clock_that_runs_out_ends_the_game() -> None:
    with served(BoardSettings(env=MNK, opponent="random", clock="0.2")) as client:
        player = Player(client)
        player.do("play", move="a1")
        player.until(lambda view: view["yours"] or view["over"])
        view = player.until(lambda view: view["over"])
        assert "has lost on time" in view["over"]
        assert player.do("play", move="a2").status == 400
        assert view["seats"][0]["clock"] == 0 or view["seats"][1]["clock"] == 0


def test_what_is_hidden_stays_hidden() -> None:
    with served(BoardSettings(env="zermelo/Kuhn-v0", opponent="random", seat=1)) as client:
        player = Player(client)
        view = player.until(lambda view: view["yours"] or view["over"])
        if view["over"]:
            pytest.skip("the agent ended the game at once")
        assert view["text"].startswith("player 0: ?")
        assert player.get("pictures/1").status == 204
        assert player.get("surface").json() is None
        assert player.do("review").status == 400
        assert player.get("files/json").status == 400
        assert player.do("analyse", on=True, ply=0).status == 400
        assert all("value" not in move for move in view["moves"])
