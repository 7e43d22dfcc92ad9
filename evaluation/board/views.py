"""Plain values of a game for the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from zermelo.evaluation.board.session import Session
from zermelo.evaluation.board.settings import Clock
from zermelo.evaluation.match.writing import finite, printable


def moves_of(session: Session) -> list[dict[str, Any]]:
    """The moves, with what searches said of them where nothing is hidden."""
    told = () if session.hides else ("value", "depth", "nodes")
    return [
        {"seat": seat, "text": printable(text), "seconds": one.move.seconds}
        | ({} if session.hides else {"path": one.path})
        | {name: finite(getattr(one.move, name)) for name in told}
        for (seat, text), one in zip(session.seen_moves(), session.played, strict=True)
    ]


def seats_of(session: Session, clock: Clock | None, players: Sequence[str]) -> list[dict[str, Any]]:
    """The seats: their names, who has them, what they have earned, and their clocks."""
    return [
        {
            "name": printable(name),
            "player": players[seat],
            "reward": session.rewards[seat],
            "clock": None if clock is None else round(clock.left(seat), 2),
        }
        for seat, name in enumerate(session.driver.seat_names)
    ]


def outcome_of(session: Session) -> str | None:
    """How the game has ended; None while it goes on."""
    if session.mover is not None:
        return None
    names, rewards = session.driver.seat_names, session.rewards
    if session.lost_on_time is not None:
        return f"{printable(names[session.lost_on_time])} has lost on time"
    if len(names) == 1:
        return f"The game is over: {rewards[0]:g} points"
    best = [name for name, reward in zip(names, rewards, strict=True) if reward == max(rewards)]
    verdict = f"{best[0]} wins" if len(best) == 1 else "a draw" if len(best) == len(names) else "shared"
    earned = ", ".join(f"{name} {reward:g}" for name, reward in zip(names, rewards, strict=True))
    return printable(f"The game is over: {verdict} ({earned})")


def bounds_of(game: Any) -> list[float] | None:
    """The least and greatest that a seat can get, where that is known."""
    bounds = None if game is None else game.traits.utility_bounds
    return [*bounds] if bounds is not None and all(map(math.isfinite, bounds)) else None
