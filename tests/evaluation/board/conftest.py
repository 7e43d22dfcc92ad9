"""A board of noughts and crosses, served to the tests of one file, and a player at it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from zermelo.evaluation.board.settings import BoardSettings

if TYPE_CHECKING:
    from doubles.board_server import Client, Player


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    from doubles.board_server import served  # which needs Starlette and uvicorn

    with served(BoardSettings(env="zermelo/MNK-v0", opponent="minimax")) as client:
        yield client


@pytest.fixture(scope="module")
def player(client: Client) -> Player:
    from doubles.board_server import Player

    return Player(client)
