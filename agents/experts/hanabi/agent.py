"""Hanabi by conventions: a policy over OpenSpiel's states, and an agent that plays it."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.memory import TransientState
from zermelo.agents.base.request import Request
from zermelo.agents.base.requirements import require_decision
from zermelo.agents.base.result import SearchResult
from zermelo.agents.base.settings import Compile, choice
from zermelo.agents.experts.hanabi.kernel import ROOM, play_on
from zermelo.agents.experts.hanabi.table import HanabiTable
from zermelo.agents.search_agent import SearchAgent
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.game import Game
from zermelo.envs.jit.build import build, is_ready
from zermelo.envs.jit.compiling import can_compile
from zermelo.envs.jit.history import argument_maker
from zermelo.envs.jit.kernel import Kernel, Wanted
from zermelo.envs.position import Position, position
from zermelo.envs.traits.merging import PATIENCE


class Convention(enum.StrEnum):
    """How hints are read."""

    SMART = "smart"
    """A hint points at a card to play, or saves one that would be discarded next."""
    HATS = "hats"
    """A hint tells each of the other players something by one number, as in puzzles of hats."""


def table_of(game: Any) -> HanabiTable | None:
    """The settings of a game, if it is Hanabi by OpenSpiel."""
    source = getattr(game, "source", None)
    if source is None or source.get_type().short_name != "hanabi":
        return None
    given = source.get_parameters()
    if given.get("random_start_player", False):
        return None
    players = source.num_players()
    return HanabiTable(
        players,
        given.get("hand_size", 5 if players < 4 else 4),
        given.get("colors", 5),
        given.get("ranks", 5),
        given.get("max_information_tokens", 8),
        given.get("max_life_tokens", 3),
        min(game.longest, 1 << 30),
    )


def require_hanabi(game: Any) -> HanabiTable:
    """The settings of a game of Hanabi; refuses other games."""
    table = table_of(game)
    if table is None:
        raise UnsupportedGameError(
            f"hanabi plays Hanabi in which player 0 begins, such as classic/hanabi-v5, and {game.traits.name} is "
            "another game: use 'auto'"
        )
    return table


def _kernel_for(game: Any, convention: Convention) -> Wanted:
    table = require_hanabi(game)._replace(hats=int(convention is Convention.HATS))
    return Wanted(table, Kernel(play_on, ("int64",) * 9))


class HanabiPolicy:
    """The policy of a convention over OpenSpiel's states, each of which is worked out from its history."""

    def __init__(self, game: Any, convention: Convention, budget: Budget) -> None:
        wanted = _kernel_for(game, convention)
        self.table = wanted.rules
        self._function: Callable[..., int] = play_on
        self.compiled = False
        if can_compile() and budget.compile is not Compile.NEVER:
            with budget.off_the_clock():
                self.compiled = is_ready(*wanted, budget.waits)
                if self.compiled:
                    self._function = build(*wanted)
        self._start = argument_maker(self.table, 1)(self.table.initial_state())

    def action(self, state: Any) -> int:
        return self._run(state, (), 0, 0, state.current_player())[0]

    def returns(self, state: Any, actions: Sequence[int], samples: int, seed: int) -> NDArray[np.float64]:
        """Like ``Blueprint.returns``; points lost with the last life do not count."""
        points, lives = self.play_on(state, actions, samples, seed, seat=state.current_player())
        return np.where(lives > 0, points, 0).astype(np.float64)

    def play_on(
        self, state: Any, actions: Sequence[int] = (-1,), samples: int = 1, seed: int = 0, *, seat: int = -1
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Points, and lives at the end, of games played on by the convention, of shape (samples, actions).

        Each sample draws a deck, and the hand of ``seat`` (-1: nobody's) such that the others would have moved as
        they did; all first actions (-1: the convention's) are tried with it.
        """
        _, out = self._run(state, actions, samples, seed, seat)
        return out[:, :, 0], out[:, :, 1]

    def _run(
        self, state: Any, actions: Sequence[int], samples: int, seed: int, seat: int
    ) -> tuple[int, NDArray[np.int64]]:
        events, tried = np.array(state.history(), np.int64), np.array(actions, np.int64)
        out, memory = np.zeros((samples, len(tried), 2), np.int64), np.zeros(ROOM, np.int64)
        where = (memory.ctypes.data, events.ctypes.data, len(events), seat, tried.ctypes.data, len(tried))
        return int(self._function(*self._start, *where, samples, seed, out.ctypes.data)), out


class _LastGame(TransientState):
    game: Game[Any] | None = None
    policy: HanabiPolicy | None = None


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class HanabiAgent(SearchAgent):
    """Plays Hanabi by rules: it reads hints by a convention, and gives hints that the others read alike.

    ``"smart"`` is in the manner of SmartBot (Quuxplusone/Hanabi): a hint points at a card to play, or saves one
    that would be discarded next. ``"hats"``, which all players must use, tells all others something at once, by
    the number of the hint: Cox, De Silva, DeOrsey, Kenter, Retter and Tobin, "How to make the perfect fireworks
    display", Mathematics Magazine 88 (2015). The agent sees no card of its own hand, remembers nothing, and can
    take over in any position. Its value is what has been scored; ``sparta(blueprint=hanabi)`` searches on top of
    it.

    Attributes:
        convention: How hints are read: ``"smart"``, or ``"hats"`` for four or five players.
    """

    kind: ClassVar[str] = "hanabi"

    convention: Convention = choice(Convention.SMART)

    _last: _LastGame = field(init=False, default_factory=_LastGame)

    def blueprint(self, game: Game[Any], budget: Budget) -> HanabiPolicy:
        policy = self._last.policy
        if policy is None or self._last.game is not game or not policy.compiled:
            policy = HanabiPolicy(game, self.convention, budget)
            self._last.game, self._last.policy = game, policy
        return policy

    def decide(self, env: Any) -> Any:
        """Acts in half the time of ``search``: a result has nothing to add to the action."""
        root = position(env, backend=self.backend, traits=self.traits)
        require_decision(root.game, root.state)
        return self.blueprint(root.game, Budget(self.limits, compile=self.compile)).action(root.state)

    def check_game(self, game: Game[Any]) -> None:
        require_hanabi(game)

    def prepare(self, env: Any, seconds: float = PATIENCE) -> None:
        self.search(env)

    def kernels(self, root: Position) -> list[Wanted]:
        may_compile = self.compile is not Compile.NEVER and can_compile()
        return [_kernel_for(root.game, self.convention)] if may_compile else []

    def choose(self, request: Request, budget: Budget) -> SearchResult:
        game, state = request.game, request.state
        policy = self.blueprint(game, budget)
        points = tuple(map(float, game.utility(state)))
        return request.result(
            budget,
            action=policy.action(state),
            value=points[game.to_move(state)],
            values_by_seat=points,
            nodes=1,
            is_estimate=True,
            evaluator="points so far",
            compiled=policy.compiled,
        )
