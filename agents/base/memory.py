"""State of agents besides their settings: typed objects in the fields of an agent, which is frozen itself."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from zermelo.agents.base.budget import StopFlag
from zermelo.agents.base.clock import TimeShare
from zermelo.agents.base.limits import Limits
from zermelo.envs.game import Chance, Game, Information

if TYPE_CHECKING:
    from zermelo.envs.position import Position

NO_LIMITS: Final = Limits()


class AgentState:
    """State of an agent, of which each of its copies has a copy."""


class TransientState(AgentState):
    """State that belongs to an agent's past searches: copies and pickles of the agent begin with an empty one."""

    def __reduce__(self) -> Any:
        return type(self), ()


class Pondered(NamedTuple):
    """The opponent's moves that an agent has pondered on in a game, and how many of them it had expected."""

    moves: int = 0
    hits: int = 0

    def after(self, *, is_hit: bool) -> Pondered:
        return Pondered(self.moves + 1, self.hits + is_hit)


@dataclass(eq=False)
class GameState(AgentState):
    """Random numbers of an agent in the game that it plays, and what came of pondering."""

    generator: np.random.Generator = field(init=False)
    pondered: Pondered = field(default_factory=Pondered)


@dataclass(eq=False)
class TimeState(AgentState):
    """How long the next search may take: its limits, which a clock may have set, or a share of a game's clock."""

    limits: Limits = NO_LIMITS
    share: TimeShare | None = None
    is_clocked: bool = False


class Asked(TransientState):
    """The last position that was searched, of one player's game without known chance, and the action."""

    def __init__(self) -> None:
        self.game: Any = None
        self.state: Any = None
        self.action: Any = None


class RunningSearches(TransientState):
    """Flags that end the searches of an agent, in any thread; ``shared`` ends all from now on, and others too."""

    def __init__(self) -> None:
        self.flags: set[StopFlag] = set()
        self.shared: StopFlag | None = None

    def stop(self) -> None:
        for flag in tuple(self.flags):
            flag.is_set = True


class Pondering(TransientState):
    """A search on the opponent's time, in a thread."""

    def __init__(self) -> None:
        self.searched: tuple[Position, Sequence[int]] | None = None
        """The position and the principal variation of the agent's last search."""
        self.expected: tuple[Game[Any], Any] | None = None
        """The game and the position that are pondered on."""
        self._running: tuple[StopFlag, threading.Thread] | None = None

    def begin(self, search: Callable[[StopFlag], object]) -> None:
        """Starts a thread that searches until the flag is set."""
        self.end()
        flag = StopFlag()

        def quietly() -> None:
            with contextlib.suppress(Exception):  # the search of the next move will raise it too, if it matters
                search(flag)

        self._running = flag, threading.Thread(target=quietly, daemon=True)
        self._running[1].start()

    def end(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running[0].is_set = True
            running[1].join()

    def was_expected(self, game: Game[Any], state: Any) -> bool | None:
        """True if this position was pondered on, False if another one was, None if none was."""
        expected, self.expected = self.expected, None
        if expected is None:
            return None
        return expected[0] == game and game.key(expected[1]) == game.key(state)

    def after_reply(self) -> tuple[Game[Any], Any] | None:
        """The game and the position after the agent's last move and the reply that it expects."""
        if self.searched is None or len(self.searched[1]) < 2:
            return None
        root, (action, reply, *_) = self.searched
        game = root.game
        traits, seat = game.traits, game.to_move(root.state)
        is_open = traits.information is Information.PERFECT and not traits.simultaneous
        if not is_open or traits.chance is not Chance.NONE:
            return None
        root = _after(root, action)
        if game.is_terminal(root.state) or game.to_move(root.state) == seat:
            return None
        if all(root.number(each) != reply for each in game.legal_actions(root.state)):
            return None
        state = _after(root, reply).state
        return None if game.is_terminal(state) or game.to_move(state) != seat else (game, state)


def _after(root: Position, number: int) -> Position:
    """The position after an action that results give by this number."""
    own = next(action for action in root.game.legal_actions(root.state) if root.number(action) == number)
    return root._replace(state=root.game.result(root.state, own))
