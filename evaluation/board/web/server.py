"""The server of the page: games by number, asked for by the page's script (long polling) and answered in JSON."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import importlib.resources
import json
import secrets
import socket
import sys
import tempfile
import time
import webbrowser
from collections.abc import AsyncIterator, Callable, Iterator
from html import escape
from types import FrameType
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from zermelo.envs.errors import InvalidSettingError, ZermeloError
from zermelo.evaluation.board.settings import BoardSettings
from zermelo.evaluation.board.table import Table
from zermelo.evaluation.board.web.connections import config_of
from zermelo.evaluation.board.web.guard import Guard
from zermelo.evaluation.match.faults import sentence

_WAIT: Final = 20.0  # seconds until a request for what is new is answered anyway
_TABLES: Final = 12  # the most games at a time
_IDLE: Final = 90.0  # seconds without a request after which a game makes room for another
_FILES: Final = ("board.html", "base.css", "board.css", "board.js", "surface.js", "charts.js")
_KINDS: Final = {"html": "text/html", "css": "text/css", "js": "text/javascript"}


class _Place:
    def __init__(self, table: Table, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._news = asyncio.Event()
        self.asked = time.monotonic()
        self.table = table
        table.on_change = self._changed

    def _changed(self) -> None:
        with contextlib.suppress(RuntimeError):  # the server has ended
            self._loop.call_soon_threadsafe(self.tell)

    def tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def wait(self, version: int) -> None:
        news = self._news
        if self.table.version <= version:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(news.wait(), _WAIT)


class Board:
    """All games of a server."""

    def __init__(self, settings: BoardSettings) -> None:
        self._settings = settings
        self._first: Table | None = Table(settings)  # mistakes are told before there is a page
        self._places: dict[str, _Place] = {}
        self._ends = False

    def end(self) -> None:
        self._ends = True
        for place in self._places.values():
            place.tell()

    def close(self) -> None:
        if self._first is not None:
            self._first.close()
        for place in self._places.values():
            place.table.close()
        self._places.clear()

    async def open(self, request: Request) -> Response:
        await self._make_room()
        number = secrets.token_urlsafe(9)
        table, self._first = self._first, None
        if table is None:
            table = await run_in_threadpool(Table, self._settings)
        self._places[number] = _Place(table, asyncio.get_running_loop())
        return JSONResponse({"id": number}, 201)

    async def _make_room(self) -> None:
        if len(self._places) < _TABLES:
            return
        number, place = min(self._places.items(), key=lambda item: item[1].asked)
        if time.monotonic() - place.asked < _IDLE:
            raise InvalidSettingError(
                f"there are {_TABLES} games already: close one of their pages and wait a minute"
            )
        del self._places[number]
        await run_in_threadpool(place.table.close)

    def _place(self, request: Request) -> _Place:
        place = self._places.get(request.path_params["table"])
        if place is None:
            raise LookupError
        place.asked = time.monotonic()
        return place

    async def view(self, request: Request) -> Response:
        """The view, once there is one newer than version ``after``."""
        place = self._place(request)
        after = request.query_params.get("after", "-1")
        if after.isdecimal() and len(after) < 18 and not self._ends:
            await place.wait(int(after))
            place.asked = time.monotonic()
        return JSONResponse(await run_in_threadpool(place.table.view))

    async def surface(self, request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(self._place(request).table.surface))

    async def frame(self, request: Request) -> Response:
        table, ply = self._place(request).table, request.path_params["ply"]
        return JSONResponse({"text": await run_in_threadpool(table.frame, ply)})

    async def picture(self, request: Request) -> Response:
        table, ply = self._place(request).table, request.path_params["ply"]
        data = await run_in_threadpool(table.picture, ply)
        return Response(data, media_type="image/png") if data is not None else Response(status_code=204)

    async def save(self, request: Request) -> Response:
        table = self._place(request).table
        text = await run_in_threadpool(table.save, request.path_params["form"])
        return Response(text, media_type="text/plain; charset=utf-8")

    async def command(self, request: Request) -> Response:
        table = self._place(request).table
        doing = _COMMANDS.get(request.path_params["command"])
        if doing is None:
            raise LookupError
        try:
            body = json.loads(await request.body() or b"{}")
        except (ValueError, RecursionError, ClientDisconnect):
            raise InvalidSettingError("the request is no JSON, or too large") from None
        if not isinstance(body, dict):
            raise InvalidSettingError("the request must be an object of JSON")
        await run_in_threadpool(doing, table, body)
        return JSONResponse({"version": table.version})


_COMMANDS: Final[dict[str, Callable[[Table, dict[str, Any]], None]]] = {
    "play": lambda table, body: table.play(body.get("move"), body.get("turn")),
    "back": lambda table, body: table.back(),
    "swap": lambda table, body: table.swap(),
    "now": lambda table, body: table.now(),
    "hint": lambda table, body: table.hint(),
    "new": lambda table, body: table.new(body),
    "analyse": lambda table, body: table.analyse(body.get("on"), body.get("ply"), body.get("agent")),
    "review": lambda table, body: table.review(),
    "load": lambda table, body: table.load(body.get("text")),
}


@functools.cache  # by the name of a file of the package, which stays the same
def _file(name: str) -> bytes:
    folder = ("output", "assets") if name == "base.css" else ("board", "web", "page")
    return importlib.resources.files("zermelo.evaluation").joinpath(*folder, name).read_bytes()


async def _fixed(request: Request) -> Response:
    name = request.url.path.removeprefix("/") or _FILES[0]
    return Response(_file(name), media_type=_KINDS[name.rpartition(".")[2]])


async def _refused(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, 400)


async def _absent(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": "there is no such game here any more: reload the page for a new one"}, 404)


async def _broken(request: Request, error: Exception) -> Response:
    print(f"zermelo: {sentence('the board', error)}", file=sys.stderr)
    return JSONResponse({"error": "something went wrong in the server: its terminal says what"}, 500)


def make_app(board: Board, token: str, port: int) -> Guard:
    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        board.close()

    table = "/api/tables/{table:str}"
    routes = [
        *(Route(f"/{name}", _fixed, methods=["GET"]) for name in ("", *_FILES[1:])),
        Route("/api/tables", board.open, methods=["POST"]),
        Route(table, board.view, methods=["GET"]),
        Route(f"{table}/surface", board.surface, methods=["GET"]),
        Route(table + "/frames/{ply:int}", board.frame, methods=["GET"]),
        Route(table + "/pictures/{ply:int}", board.picture, methods=["GET"]),
        Route(table + "/files/{form:str}", board.save, methods=["GET"]),
        Route(table + "/{command:str}", board.command, methods=["POST"]),
    ]
    handlers: dict[Any, Any] = {ZermeloError: _refused, LookupError: _absent, Exception: _broken}
    return Guard(Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan), token, port)


_LOOPBACK: Final = "127.0.0.1"
_WAITING: Final = 256  # connections that the system keeps until they are accepted


def serve(
    settings: BoardSettings, *, port: int = 0, opens: bool = True, say: Callable[[str], None] = print
) -> None:
    token, board = secrets.token_urlsafe(32), Board(settings)
    with contextlib.closing(board), _listening(port) as listener:
        number = listener.getsockname()[1]
        link = f"http://{_LOOPBACK}:{number}/#{token}"
        config = config_of(make_app(board, token, number), log_level="error")
        say(f"{settings.env} against {settings.opponent}: open {link}")
        say("Ctrl-C ends it. The link is for you alone: anyone who has it can play your games.")
        with _opened(link) if opens else contextlib.nullcontext():
            server = uvicorn.Server(config)
            ending = server.handle_exit

            def end(sig: int, frame: FrameType | None) -> None:
                board.end()
                ending(sig, frame)

            server.handle_exit = end  # type: ignore[method-assign]  # it has no other way to be told
            server.run(sockets=[listener])


@contextlib.contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as listener:
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((_LOOPBACK, port))
            listener.listen(_WAITING)
        except OSError as error:
            raise InvalidSettingError(
                f"cannot listen on port {port} ({error.strerror or error}): leave --port out, or choose another"
            ) from error
        yield listener


@contextlib.contextmanager
def _opened(link: str) -> Iterator[None]:
    """Opens the link by way of a file that nobody else can read: other users see the arguments of programs."""
    page = f'<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={escape(link)}">'
    page += f'<title>zermelo</title><a href="{escape(link)}">Open the board</a>\n'
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError, webbrowser.Error):
            named = tempfile.NamedTemporaryFile("w", encoding="utf-8", prefix="zermelo-", suffix=".html")  # noqa: SIM115
            file = stack.enter_context(named)  # for its owner alone
            file.write(page)
            file.flush()
            webbrowser.open(f"file://{file.name}")
        yield
