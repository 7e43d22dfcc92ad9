"""Running the server: on the loopback address, until Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import tempfile
import webbrowser
from collections.abc import Callable, Iterator
from html import escape
from types import FrameType
from typing import Final

from zermelo.envs import InvalidSettingError, MissingDependencyError
from zermelo.envs.support.installing import install_command
from zermelo.evaluation.board.settings import TableSettings

_LOOPBACK: Final = "127.0.0.1"
_CONNECTIONS: Final = 100


def serve(
    settings: TableSettings, *, port: int = 0, opens: bool = True, say: Callable[[str], None] = print
) -> None:
    """Serves games until Ctrl-C."""
    try:
        import uvicorn

        from zermelo.evaluation.board.web.server import Board, make_app
    except ImportError as error:
        if error.name is not None and error.name.startswith("zermelo"):
            raise
        raise MissingDependencyError(
            f"playing in the browser needs Starlette and uvicorn: {install_command('board')}"
        ) from error
    token, board = secrets.token_urlsafe(32), Board(settings)
    with contextlib.closing(board), _listening(port) as listener:
        number = listener.getsockname()[1]
        link = f"http://{_LOOPBACK}:{number}/#{token}"
        config = uvicorn.Config(
            make_app(board, token, number),
            log_level="warning",
            access_log=False,
            server_header=False,
            limit_concurrency=_CONNECTIONS,
            timeout_graceful_shutdown=1,
            ws="none",
        )
        say(f"{settings.env} against {settings.opponent}: open {link}")
        say("Ctrl-C ends it. The link is for you alone: who has it can play your games.")
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
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((_LOOPBACK, port))
        listener.listen(_CONNECTIONS)
    except OSError as error:
        listener.close()
        raise InvalidSettingError(
            f"cannot listen on port {port} ({error.strerror or error}): leave --port out, or choose another"
        ) from error
    try:
        yield listener
    finally:
        listener.close()


@contextlib.contextmanager
def _opened(link: str) -> Iterator[None]:
    """Opens the link by way of a file that nobody else can read: other users see the arguments of programs."""
    page = f'<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={escape(link)}">'
    page += f'<title>zermelo</title><a href="{escape(link)}">Open the board</a>\n'
    path = ""
    try:
        with contextlib.suppress(OSError, webbrowser.Error):
            number, path = tempfile.mkstemp(prefix="zermelo-", suffix=".html")  # for its owner alone
            with os.fdopen(number, "w", encoding="utf-8") as file:
                file.write(page)
            webbrowser.open(f"file://{path}")
        yield
    finally:
        if path:
            with contextlib.suppress(OSError):
                os.unlink(path)
