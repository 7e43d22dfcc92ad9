"""The board's requests at wrong times and with wrong values: a sentence each, and the game goes on."""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from zermelo.evaluation.board.settings import BoardSettings

pytest.importorskip("starlette", reason="needs Starlette: scripts/setup board")
pytest.importorskip("uvicorn", reason="needs uvicorn: scripts/setup board")

from doubles.board_server import Client, Player, served  # after the check for it
from doubles.processes import ends, works

from zermelo.evaluation.board.table import Table

MNK = "zermelo/MNK-v0"
BAD_SETTINGS: list[dict[str, Any]] = [
    {"opponent": "nobody"},
    {"opponent": "alphabeta(depth=-1)"},
    {"opponent": "backward_induction"},
    {"opponent": "alphabeta("},
    {"opponent": "uci(path=ls)"},
    {"opponent": ["random"]},
    {"clock": "soon"},
    {"clock": "-1"},
    {"clock": 5},
    {"seat": 2},
    {"seat": -1},
    {"seat": 0.5},
    {"seat": "0"},
    {"seed": -1},
    {"seed": True},
    {"seed": 2**64},
    {"opponent": "random", "seat": 7, "clock": "5"},
]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with served(BoardSettings(env=MNK, opponent="mcts(seconds=2)", seat=1)) as client:
        yield client


def test_a_new_game_with_bad_settings_leaves_the_old_one_playable(client: Client) -> None:
    player = Player(client)
    assert player.view()["thinking"]
    for wanted in BAD_SETTINGS:
        answer = player.do("new", **wanted)
        assert (answer.status, bool(answer.json()["error"])) == (400, True), wanted
    view = player.until(lambda view: view["yours"], 20)
    assert len(view["moves"]) == 1
    assert view["settings"]["opponent"] == "mcts(seconds=2)"
    assert player.do("play", move=view["legal"][0]["number"]).status == 200


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_the_agent_ponders_until_the_game_is_another_one() -> None:
    table = Table(BoardSettings(env=f"{MNK}(m=7, n=7, k=5)", opponent="alphabeta(nodes=3000)", ponder=True))

    def play() -> None:
        view = table.view()
        table.play(view["legal"][0]["number"], view["turn"])
        late = time.monotonic() + 20
        while not table.view()["yours"] and time.monotonic() < late:
            time.sleep(0.01)

    try:
        play()
        process = table._player._process
        assert process is not None
        assert works(process.pid)
        play()
        assert table._session.played[-1].move.expected in (True, False)
        assert works(process.pid)
        table.back()
        assert not works(process.pid, seconds=0.2)
    finally:
        table.close()


VALUES: list[Any] = [None, True, -1, 2**70, 1.5, 1e308, "", "x" * 300, "\0", "\ud800", [], {}, [[1]], {"a": None}]
BODIES: list[tuple[str, dict[str, Any]]] = [
    *(("play", {"move": value}) for value in VALUES),
    *(("analyse", {"on": value}) for value in [*VALUES[:1], *VALUES[2:]]),
    *(("analyse", {"on": True, "ply": value}) for value in VALUES[1:]),
    *(("analyse", {"on": True, "agent": value}) for value in VALUES[1:] if value != ""),
    *(("load", {"text": value}) for value in VALUES),
    *(("new", {name: value}) for name in ("seat", "seed", "opponent") for value in [*VALUES[1:2], *VALUES[4:]]),
]


@pytest.mark.parametrize("state", ["thinking", "over", "analysing"])
def test_wrong_values_are_refused_in_every_state_and_change_nothing(state: str) -> None:
    slow = "minimax(backend=clone)" if state == "thinking" else "random"
    env = "zermelo/MNK-v0(m=5, n=5, k=4)" if state == "thinking" else "zermelo/Nim-v0(heaps=[1])"
    with served(BoardSettings(env=env, opponent=slow, seat=1 if state == "thinking" else 0)) as client:
        player = Player(client)
        if state == "over":
            assert player.do("play", move=player.view()["legal"][0]["number"]).status == 200
            assert player.view()["over"]
        if state == "analysing":
            assert player.do("analyse", on=True, agent="alphabeta(depth=1)").status == 200
            player.until(lambda view: not view["analyses"])
        kept = ("people", "mover", "yours", "over", "moves", "thinking", "analysed", "analysis", "settings")
        before = player.view()
        for command, body in BODIES:
            answer = player.do(command, **body)
            assert answer.status == 400, (command, body, answer.text)
            assert answer.json()["error"].count("\n") == 0
            assert "Traceback" not in answer.text
        after = player.view()
        assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
        assert player.do("new", opponent="random", seat=0).status == 200
        player.until(lambda view: view["yours"])


def test_commands_at_any_time_are_answered_and_the_board_stays_playable(client: Client) -> None:
    """Two pages of one game send all commands at once, while agents think and after the end."""
    pages = [Player(client), Player(client)]
    pages[1].table = pages[0].table
    commands: list[tuple[str, dict[str, Any]]] = [
        ("now", {}),
        ("new", {"opponent": "random", "seat": 0}),
        ("play", {"move": 4}),
        ("hint", {}),
        ("analyse", {"on": True, "agent": "mcts(simulations=50)"}),
        ("swap", {}),
        ("back", {}),
        ("review", {}),
        ("now", {}),
        ("analyse", {"on": False}),
        ("new", {"opponent": "mcts(seconds=0.2)", "seat": 1}),
        ("swap", {}),
    ]
    wrong: list[str] = []

    def work(page: Player, shift: int) -> None:
        for place in range(2 * len(commands)):
            command, body = commands[(place + shift) % len(commands)]
            answer = page.do(command, **body)
            if answer.status not in (200, 400) or page.get("").status != 200:
                wrong.append(f"{command} {body}: {answer.status} {answer.text}")

    threads = [threading.Thread(target=work, args=(page, 5 * number)) for number, page in enumerate(pages)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []
    assert pages[0].do("new", opponent="random", seat=0).status == 200
    assert pages[0].until(lambda view: view["yours"])["problem"] == ""
    assert pages[1].do("play", move=4).status == 200


# -- agents that cannot be stopped --------------------------------------------------------------------------------


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="looks into /proc")
def test_move_now_ends_an_agent_that_cannot_be_stopped_and_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZERMELO_TEST_CHILDREN", str(tmp_path / "children"))
    monkeypatch.setattr("zermelo.evaluation.board.jobs._PATIENCE", 0.2)
    opponent = "doubles.bad_agents:StartsAnother"
    with served(BoardSettings(env=MNK, opponent=opponent, seat=1)) as client:
        player = Player(client)

        def children() -> list[int]:
            file = tmp_path / "children"
            return [int(line) for line in file.read_text().split()] if file.exists() else []

        due = time.monotonic() + 30
        while not children() and time.monotonic() < due:
            time.sleep(0.02)
        for round_ in itertools.count(1):
            assert player.do("now").status == 200
            view = player.until(lambda view: view["problem"])
            assert "did not stop" in view["problem"]
            assert "memory" not in view["problem"]
            assert not view["thinking"]
            assert ends(children()[-1])
            if round_ == 2:
                break
            assert player.do("now").status == 200  # asks it again
            player.until(lambda view: view["thinking"])
            player.until(lambda _: len(children()) == 2)
        assert player.do("swap").status == 200  # a person goes on in its place
        view = player.view()
        assert view["yours"]
        assert view["problem"] == ""


# -- clocks -------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_an_answer_after_the_flag_fell_is_lost_on_time_and_no_problem() -> None:
    slow = "doubles.bad_agents:Slow(seconds=1.5)"
    with served(BoardSettings(env=MNK, opponent=slow, clock="1")) as client:
        player = Player(client)
        assert player.do("play", move="a1").status == 200
        time.sleep(2)  # nobody looks at the board before the answer comes
        view = player.until(lambda view: not view["thinking"])
        assert view["over"] == "player_1 has lost on time"
        assert view["problem"] == ""
        for command in ("play", "hint"):
            answer = player.do(command, move="a2")
            assert answer.status == 400
            assert "the flag of player_1 fell" in answer.json()["error"]
        assert player.do("back").status == 200
        view = player.view()
        assert view["yours"]
        assert view["over"] is None
        assert player.do("play", move="a2").status == 200
