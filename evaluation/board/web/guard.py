"""Access control of the server: only its own page, opened by the printed link.

Every page in a browser on this machine can reach the loopback address. So each request must name this server as
its host (against DNS rebinding), come from its own page if it says from where, and, but for the page's fixed
files, have the link's token in a header. (OWASP: "Cross-Site Request Forgery Prevention".)
"""

from __future__ import annotations

import asyncio
import secrets
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from zermelo.evaluation.board.saving import LARGEST

TOKEN_HEADER: Final = "x-zermelo-token"
HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}
_BODY: Final = 2 * LARGEST  # bytes of the largest request
PATIENCE: Final = 10.0  # seconds in which the body of a request must be there
_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")


class Guard:
    """Lets requests through to an application, or refuses them."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app, self._token = app, token
        self._hosts = {f"{name}:{port}" for name in _NAMES}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http" and (refusal := self._refusal(scope)) is not None:
            status, sentence = refusal
            await JSONResponse({"error": sentence}, status, HEADERS)(scope, receive, send)
        elif scope["type"] == "http":
            await self._app(scope, _limited(receive), _with_headers(send))

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        for key in ("host", "origin", "content-length", TOKEN_HEADER):
            if len(headers.getlist(key)) > 1:
                return 400, f"the header {key} comes twice"
        host = headers.get("host", "")
        if host not in self._hosts:
            return 421, "this server answers by its own address only: use the link that was printed"
        is_foreign = headers.get("sec-fetch-site", "none") not in ("same-origin", "none")
        if is_foreign or headers.get("origin", f"http://{host}") != f"http://{host}":
            return 403, "requests of other sites are refused"
        if not headers.get("content-length", "0").isdecimal() or int(headers.get("content-length", "0")) > _BODY:
            return 413, f"a request has at most {_BODY:,} bytes"
        if not scope["path"].startswith("/api/"):
            return None
        if not secrets.compare_digest(headers.get(TOKEN_HEADER, "").encode(), self._token.encode()):
            return 403, "the link's token is missing or wrong: open the link that was printed"
        return None


def _limited(receive: Receive) -> Receive:
    """Stops reading a body that is longer than it may be, whatever its header said, or does not end in time."""
    read, ends = 0, asyncio.get_running_loop().time() + PATIENCE
    is_read = False

    async def receive_some() -> Message:
        nonlocal read, is_read
        try:
            async with asyncio.timeout_at(None if is_read else ends):
                message = await receive()
        except TimeoutError:
            return {"type": "http.disconnect"}
        is_read = is_read or not message.get("more_body", False)
        read += len(message.get("body", b""))
        if read > _BODY:
            return {"type": "http.disconnect"}
        return message

    return receive_some


def _with_headers(send: Send) -> Send:
    async def send_more(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_more
