"""Who may ask the server for what: only the page that it serves, opened by the link that was printed.

The server listens on the loopback address alone, but every program and every page in a browser on this machine can
reach that. So each request must name this server as its host, which a page that has its own name point here (DNS
rebinding) does not do; one that says where it comes from must come from the server's own page; and all but the
page's fixed files need the token of the link in a header, which a page of another origin may not send and cannot
know. There are no cookies that a request could carry along. (OWASP: "Cross-Site Request Forgery Prevention".)
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from zermelo.evaluation.board.saving import LARGEST

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

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
_BODY: Final = 2 * LARGEST
"""Bytes of the largest request."""
_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")


class Guard:
    """Lets requests through to an application, or refuses them.

    Args:
        app: The application.
        token: What the link holds.
        port: Where the server listens.
    """

    def __init__(self, app: App, token: str, port: int) -> None:
        self._app, self._token = app, token
        self._hosts = {f"{name}:{port}" for name in _NAMES}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        await self._app(scope, _limited(receive), _with_headers(send))

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """The status and the sentence of a refusal; None for a request that may pass."""
        headers: dict[str, str] = {}
        for name, value in scope["headers"]:
            key = name.decode("latin-1").lower()
            if key in headers and key in ("host", "origin", "content-length", TOKEN_HEADER):
                return 400, f"the header {key} comes twice"
            headers[key] = value.decode("latin-1")
        host = headers.get("host", "")
        if host not in self._hosts:
            return 421, "this server answers by its own address only: use the link that was printed"
        if headers.get("origin", f"http://{host}") != f"http://{host}":
            return 403, "requests of other sites are refused"
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return 403, "requests of other sites are refused"
        if not headers.get("content-length", "0").isdecimal() or int(headers.get("content-length", "0")) > _BODY:
            return 413, f"a request has at most {_BODY:,} bytes"
        if not scope["path"].startswith("/api/"):
            return None
        given = headers.get(TOKEN_HEADER, "").encode()
        if not secrets.compare_digest(given, self._token.encode()):
            return 403, "the link's token is missing or wrong: open the link that was printed"
        return None


async def _refuse(send: Send, status: int, sentence: str) -> None:
    body = json.dumps({"error": sentence}).encode()
    headers = HEADERS | {"content-type": "application/json", "content-length": str(len(body))}
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})


def _limited(receive: Receive) -> Receive:
    """Stops reading a body that is longer than it may be, whatever its header said."""
    read = 0

    async def receive_some() -> MutableMapping[str, Any]:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > _BODY:
            return {"type": "http.disconnect"}
        return message

    return receive_some


def _with_headers(send: Send) -> Send:
    async def send_more(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            known = {name.lower() for name, _ in message["headers"]}
            more = [
                (name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in known
            ]
            message = {**message, "headers": [*message["headers"], *more]}
        await send(message)

    return send_more
