"""Connections of the server: those that have waited longest for a request are closed, as they keep others out."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

CONNECTIONS: Final = 100  # connections at a time, those that wait for an answer among them
SILENT: Final = 40  # connections without a request that are kept open
PATIENCE: Final = 10.0  # seconds that the head of a request may take


class PatientProtocol(H11Protocol):
    """HTTP of uvicorn, which itself waits for ever for the head of a request."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Closes those that have been silent for the longest, if there are too many."""
        super().connection_made(transport)
        self._wait()
        silent = [one for one in self.connections if isinstance(one, PatientProtocol) and one.is_silent]
        for one in sorted(silent, key=lambda one: one.silent_since)[: max(len(silent) - SILENT, 0)]:
            one.transport.abort()
            self.connections.discard(one)

    @property
    def is_silent(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def data_received(self, data: bytes) -> None:
        """Reads on, until ``PATIENCE`` where the request does not begin yet."""
        super().data_received(data)
        if not self.is_silent:
            self._stop_waiting()
        elif self._deadline is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        self._stop_waiting()  # uvicorn has a limit of its own until the next request begins
        self.silent_since = self.loop.time()
        super().on_response_complete()

    def _wait(self) -> None:
        self.silent_since = self.loop.time()
        self._deadline = self.loop.call_later(PATIENCE, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def config_of(app: Any, **settings: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app, http=PatientProtocol, limit_concurrency=CONNECTIONS, access_log=False, server_header=False,
        timeout_graceful_shutdown=1, ws="none", **settings,
    )  # fmt: skip
