"""A server of the board in a thread, and what a page's script asks of it."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import uvicorn

from zermelo.evaluation.board.settings import BoardSettings
from zermelo.evaluation.board.web.connections import config_of
from zermelo.evaluation.board.web.server import Board, _listening, make_app

TOKEN = "t" * 43


class Answer(NamedTuple):
    """Of the server."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode()

    def json(self) -> Any:
        return json.loads(self.content)


class Client:
    """Asks the server on a port."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.link = f"http://127.0.0.1:{port}/#{TOKEN}"

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | Iterable[bytes] | None = None,
        headers: Mapping[str, str] | Iterable[tuple[str, str]] = (),
    ) -> Answer:
        pairs = list(headers.items() if isinstance(headers, Mapping) else headers)
        given = {name.lower() for name, _ in pairs}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest(method, path, skip_host="host" in given, skip_accept_encoding=True)
        if "x-zermelo-token" not in given:
            connection.putheader("X-Zermelo-Token", TOKEN)
        for name, value in pairs:
            connection.putheader(name, value.encode("latin-1"))
        chunked = body is not None and not isinstance(body, bytes)
        if chunked:
            connection.putheader("Transfer-Encoding", "chunked")
        elif isinstance(body, bytes) and "content-length" not in given:
            connection.putheader("Content-Length", str(len(body)))
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the server may have heard enough
            connection.endheaders(body, encode_chunked=chunked)
        with contextlib.closing(connection):
            answer = connection.getresponse()
            known = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, known, answer.read())


class Player:
    """A page's script."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.table = client.ask("POST", "/api/tables").json()["id"]

    def view(self) -> dict[str, Any]:
        answer = self.get("")
        assert answer.status == 200, answer.text
        view: dict[str, Any] = answer.json()
        return view

    def get(self, path: str) -> Answer:
        return self.client.ask("GET", f"/api/tables/{self.table}" + (f"/{path}" if path else ""))

    def do(self, command: str, **body: Any) -> Answer:
        """Sends a command; a move is one in the position that is on the board now."""
        if command == "play":
            body.setdefault("turn", self.view()["turn"])
        return self.client.ask("POST", f"/api/tables/{self.table}/{command}", json.dumps(body).encode())

    def until(self, test: Callable[[dict[str, Any]], Any], seconds: float = 60.0) -> dict[str, Any]:
        ends = time.monotonic() + seconds
        while not test(view := self.view()):
            assert time.monotonic() < ends, view
            time.sleep(0.02)
        return view


@contextlib.contextmanager
def served(settings: BoardSettings) -> Iterator[Client]:
    """A server of games that begin so."""
    board = Board(settings)
    with _listening(0) as listener:
        port = listener.getsockname()[1]
        config = config_of(make_app(board, TOKEN, port), log_level="error", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield Client(port)
        finally:
            board.end()
            server.should_exit = True
            thread.join(10)
            board.close()
