"""What the processes of one search tell each other while they search."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final

_MOST: Final = 1 << 16


class News:
    """Messages from and to the other processes of one search; they may come late, or not at all.

    Attributes:
        rank: The number of this process among them, from 0.
    """

    def __init__(self, number: int, rank: int, heard: Heard, send: Callable[[int, bytes], object]) -> None:
        self.rank = rank
        self._number, self._heard, self._send = number, heard, send

    def tell(self, message: Any) -> None:
        """Sends a message to all others."""
        self._send(self._number, pickle.dumps(message))

    def heard(self) -> Iterator[Any]:
        """Takes the messages that have come."""
        heard = self._heard
        while heard:
            number, data = heard.popleft()
            if number == self._number:  # others are of searches that have ended
                yield pickle.loads(data)


class Heard(deque[tuple[int, bytes]]):
    """Messages that a process was sent, each with the number of its search, which may not have begun."""

    def __init__(self) -> None:
        super().__init__(maxlen=_MOST)
