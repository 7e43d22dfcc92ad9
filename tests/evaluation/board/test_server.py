"""The server of the board: who is let in, what is refused, connections that ask nothing, and the port."""

from __future__ import annotations

import contextlib
import socket

import pytest

from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation.board.settings import BoardSettings
from zermelo.evaluation.board.table import Table

pytest.importorskip("starlette", reason="needs Starlette: scripts/setup board")
pytest.importorskip("uvicorn", reason="needs uvicorn: scripts/setup board")

from doubles.board_server import TOKEN, Client, Player, served  # after the check for it

from zermelo.evaluation.board.web import connections, guard
from zermelo.evaluation.board.web import server as serving

MNK = "zermelo/MNK-v0"


# -- who is let in ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"X-Zermelo-Token": ""}, 403),
        ({"X-Zermelo-Token": TOKEN[:-1]}, 403),
        ({"X-Zermelo-Token": TOKEN + "\u00e9"}, 403),
        ({"Host": "attacker.example:8000"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Origin": "http://attacker.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Content-Length": "99999999999"}, 413),
        ({"Host": "localhost:PORT"}, 201),
        ({"Origin": "http://127.0.0.1:PORT", "Sec-Fetch-Site": "same-origin"}, 201),
    ],
    ids=lambda part: " ".join(f"{k} {v[:24]!a}" for k, v in part.items()) if isinstance(part, dict) else str(part),
)
def test_only_the_page_of_the_link_is_let_in(client: Client, headers: dict[str, str], status: int) -> None:
    given = {name: value.replace("PORT", str(client.port)) for name, value in headers.items()}
    answer = client.ask("POST", "/api/tables", headers=given)
    assert answer.status == status
    assert answer.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert "access-control-allow-origin" not in answer.headers
    assert "set-cookie" not in answer.headers
    if status == 201:
        assert len(answer.json()["id"]) == 12
    else:
        assert answer.json()["error"]


def test_a_header_that_comes_twice_is_refused(client: Client) -> None:
    pairs = [("Host", f"127.0.0.1:{client.port}"), ("Origin", "http://a.example"), ("Origin", "http://b.example")]
    assert client.ask("GET", "/", headers=pairs).status == 400


def test_a_preflight_of_another_site_gets_nothing(client: Client) -> None:
    asked = {"Origin": "http://attacker.example", "Access-Control-Request-Method": "POST"}
    answer = client.ask("OPTIONS", "/api/tables", headers=asked)
    assert answer.status == 403
    assert not any(name.startswith("access-control") for name in answer.headers)


def test_the_page_names_nothing_outside_itself(client: Client) -> None:
    for path in ("/", "/base.css", "/board.css", "/board.js", "/surface.js", "/charts.js"):
        answer = client.ask("GET", path, headers={"X-Zermelo-Token": ""})
        assert answer.status == 200
        text = answer.text.replace("http://www.w3.org/2000/svg", "")
        assert "http:" not in text
        assert "https:" not in text
        assert "innerHTML" not in text
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert client.ask("GET", "/../pyproject.toml").status == 404
    assert client.ask("GET", "/page/board.html").status == 404


def test_a_body_that_goes_on_and_on_is_cut_off(client: Client, player: Player) -> None:
    parts = (b"x" * 2**20 for _ in range(5))
    answer = client.ask("POST", f"/api/tables/{player.table}/load", parts)
    assert answer.status == 400
    assert "too large" in answer.json()["error"]


@pytest.mark.parametrize(
    ("command", "body", "status", "said"),
    [
        ("play", b"{}", 400, "a move is its number or a text, not None"),
        ("play", b'{"move": "<b>", "turn": 1}', 400, "That is '<b>', which is not legal here"),
        ("play", b'{"move": 99, "turn": 1}', 400, "That is 99, which is not legal here (legal: "),
        (
            "play",
            b'{"move": 0}',
            400,
            "chosen in turn None, and this is turn 1: the position has changed",
        ),
        ("play", b'{"move": 0, "turn": true}', 400, "chosen in turn True"),
        ("play", b'{"move": 0, "turn": "1"}', 400, "chosen in turn '1'"),
        ("play", b"[]", 400, "must be an object"),
        ("play", b"{", 400, "no JSON"),
        ("play", b"[" * 100_000, 400, "no JSON"),
        ("review", b"", 400, "no moves yet"),
        ("load", b'{"text": 3}', 400, "from the text of a file"),
        ("analyse", b'{"on": true, "ply": 7}', 400, "no position 7"),
        ("analyse", b'{"on": true, "agent": "random"}', 200, ""),
        ("analyse", b'{"on": true, "agent": "os:system(command=ls)"}', 400, "on the command line"),
        ("new", b'{"opponent": "uci(command=ls)"}', 400, "on the command line"),
        ("new", b'{"opponent": "policytable(file=x)"}', 400, "on the command line"),
        ("new", b'{"opponent": "noisy(agent=uci(path=1))"}', 400, "on the command line"),
        ("analyse", b'{"on": true, "agent": "expectimax(opponent=gnubg)"}', 400, "on the command line"),
        ("new", b'{"opponent": "nobody"}', 400, "no agent is called"),
        ("new", b'{"seat": 5}', 400, "no seat 6"),
        ("new", b'{"clock": "soon"}', 400, "a clock is seconds"),
        ("explode", b"{}", 404, "no such game"),
    ],
    ids=lambda part: part[:30].decode() if isinstance(part, bytes) else str(part)[:12],
)
def test_bad_requests_are_one_sentence(
    client: Client, player: Player, command: str, body: bytes, status: int, said: str
) -> None:
    answer = client.ask("POST", f"/api/tables/{player.table}/{command}", body)
    assert answer.status == status
    assert said in answer.json().get("error", "")
    assert player.view()["moves"] == []


def test_what_is_not_there(client: Client, player: Player) -> None:
    assert client.ask("GET", "/api/tables/nothing").status == 404
    assert player.get("pictures/7").status == 400
    assert player.get("frames/7").json()["error"] == "there is no position 7: the game has 0 moves"
    assert player.get("files/exe").status == 400
    assert client.ask("PUT", "/api/tables").status == 405


def test_there_are_so_many_games_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zermelo.evaluation.board.web.server._TABLES", 2)
    with served(BoardSettings(env=MNK, opponent="random")) as client:
        first, second = Player(client), Player(client)
        assert "2 games already" in client.ask("POST", "/api/tables").json()["error"]
        monkeypatch.setattr("zermelo.evaluation.board.web.server._IDLE", 0.0)
        second.view()
        assert client.ask("POST", "/api/tables").status == 201
        assert client.ask("GET", f"/api/tables/{first.table}").status == 404


def test_a_mistake_of_ours_is_told_in_the_terminal_only(
    player: Player, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Table, "view", lambda self: 1 / 0)
    answer = player.get("")
    assert answer.status == 500
    assert "ZeroDivisionError" not in answer.text
    assert "ZeroDivisionError" in capsys.readouterr().err


# -- what is asked for too much -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("alphabeta(threads=100000)", "threads is a number of at most"),
        ("mcts(threads=100000)", "threads is a number of at most"),
        ("noisy(agent=alphabeta(threads=100000), epsilon=0.1)", "threads is a number of at most"),
        ("mcts(workers=100000)", "workers is a number of at most"),
        ("mcts(workers='ray:4')", "on the command line"),
        ("alphabeta(memory_mb=1000000)", "memory_mb is a number of at most 4,096 on the board, not 1000000"),
        ("alphabeta(depth=100000000000)", "depth is a number of at most 1,000 on the board"),
        ("alphabeta(seconds=1e300)", "seconds is a number of at most"),
        ("mcts(simulations=99999999999999)", "simulations is a number of at most"),
        ("alphabeta(threads=-1)", "threads must be a whole number of at least 1, not -1"),
        ("alphabeta(seconds=nan)", "on the command line"),
        ("alphabeta(depth='deep')", "on the command line"),
    ],
)
@pytest.mark.parametrize("command", ["new", "analyse"])
def test_an_agent_that_takes_too_much_of_the_machine_is_refused(
    player: Player, command: str, spec: str, said: str
) -> None:
    asked = {"opponent": spec} if command == "new" else {"on": True, "agent": spec}
    answer = player.do(command, **asked)
    assert answer.status == 400
    assert said in answer.json()["error"]


@pytest.mark.parametrize("name", ["threads", "workers"])
def test_an_agent_of_the_command_line_starts_no_hundred_thousand(name: str) -> None:
    agent = "alphabeta" if name == "threads" else "mcts"
    with pytest.raises(InvalidSettingError, match=f"{name} is at most 256 on the board, not 100000: take fewer"):
        Table(BoardSettings(env=MNK, opponent=f"noisy(agent={agent}({name}=100000), epsilon=0.1)"))


@pytest.mark.parametrize("clock", ["nan", "inf+1", "-5", "1e400", "1e300+1e300x", "0"])
def test_a_clock_that_is_none_is_refused(player: Player, clock: str) -> None:
    assert player.do("new", opponent="random", clock=clock).status == 400


# -- connections --------------------------------------------------------------------------------------------------


def silent(port: int, sent: bytes = b"") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=20)
    connection.sendall(sent)
    return connection


@pytest.mark.parametrize(
    "sent", [b"", b"GET / HTTP/1.1\r\nHost: ", b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n"]
)
def test_connections_that_ask_nothing_keep_nobody_out(client: Client, player: Player, sent: bytes) -> None:
    with contextlib.ExitStack() as opened:
        for _ in range(300):
            opened.enter_context(silent(client.port, sent))
        for _ in range(3):
            assert client.ask("GET", "/").status == 200
            assert player.get("").status == 200


def test_a_request_has_to_come_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 0.2)
    monkeypatch.setattr(guard, "PATIENCE", 0.2)
    with served(BoardSettings(env=MNK, opponent="random")) as client:
        for sent in (b"", b"GET / HTTP/1.1\r\nHo", b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HT"):
            with silent(client.port, sent) as connection, contextlib.suppress(ConnectionResetError):
                while connection.recv(4096):
                    pass  # until the server closes it
        player = Player(client)
        head = f"POST /api/tables/{player.table}/load HTTP/1.1\r\nHost: 127.0.0.1:{client.port}\r\n"
        body = f"{head}X-Zermelo-Token: {TOKEN}\r\nContent-Length: 99\r\n\r\n{{".encode()
        with silent(client.port, body) as connection, contextlib.suppress(ConnectionResetError):
            while connection.recv(4096):
                pass
        assert player.get("").status == 200


def test_a_page_that_waits_long_for_what_is_new_is_no_silent_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 0.2)
    monkeypatch.setattr(serving, "_WAIT", 1.0)
    with served(BoardSettings(env=MNK, opponent="random")) as client:
        player = Player(client)
        version = player.view()["version"]
        assert client.ask("GET", f"/api/tables/{player.table}?after={version}").status == 200


# -- running it ---------------------------------------------------------------------------------------------------


def test_a_port_that_is_taken_is_told() -> None:
    with serving._listening(0) as listener:
        address = listener.getsockname()
        assert address[0] == "127.0.0.1"
        with (
            pytest.raises(InvalidSettingError, match=f"cannot listen on port {address[1]}"),
            serving._listening(address[1]),
        ):
            pytest.fail("it is taken")


def test_the_link_is_opened_by_a_file_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    import os
    import stat
    from pathlib import Path

    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    with serving._opened("http://127.0.0.1:1/#secret"):
        path = Path(opened[0].removeprefix("file://"))
        assert "secret" not in opened[0]
        assert "#secret" in path.read_text()
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert not path.exists()
