"""Texas hold'em played by a policy over buckets of hands."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.request import Request
from zermelo.agents.base.requirements import require_information_states
from zermelo.agents.base.result import SearchResult, drawn_action
from zermelo.agents.base.settings import Compile, path
from zermelo.agents.experts.poker.betting import Ints, Limit, NoLimit, PublicTree, betting_tree
from zermelo.agents.experts.poker.cards import Buckets, Sizes, equities_kernel, is_compiled, pair_number
from zermelo.agents.search_agent import SearchAgent
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.game import Game
from zermelo.envs.jit.compiling import can_compile
from zermelo.envs.jit.kernel import Wanted
from zermelo.envs.position import Position
from zermelo.envs.support.array_files import Form, read_arrays, write_arrays
from zermelo.envs.support.data_files import FileKind, in_a_sentence
from zermelo.envs.support.files import file_version

SHIPPED: Final = "equity"  # the policies that are shipped: hands are sorted by how often they win
_GAMES: Final[Mapping[str, Limit | NoLimit]] = {"texas_holdem_v4": Limit(), "texas_holdem_no_limit_v6": NoLimit()}
_ACTIONS: Final = ("call", "raise", "fold", "check")
_STEPS: Final = 255
_SUITS: Final = "CDHS"
_RANKS: Final = "23456789TJQKA"


def holdem_of(game: Any) -> Limit | NoLimit | None:
    """Which hold'em a game is, if it is PettingZoo's for two."""
    return _GAMES.get(game.traits.name) if len(game.traits.seat_names) == 2 else None


def is_rlcards(game: Any, state: Any) -> bool:
    """True if RLCard's environment is inside a game's copies, whatever their name: its hands can be read."""
    inside = getattr(game.environment(state), "env", None) if hasattr(game, "environment") else None
    return type(inside).__module__.partition(".")[0] == "rlcard"


def require_holdem(game: Any) -> Limit | NoLimit:
    """Which hold'em a game is; refuses other games."""
    rules = holdem_of(game)
    if rules is None:
        raise UnsupportedGameError(
            "holdem plays PettingZoo's Texas hold'em for two, such as classic/texas_holdem-v4, and "
            f"{game.traits.name} for {len(game.traits.seat_names)} is another game: use 'ismcts'"
        )
    return rules


@dataclass(frozen=True)
class PokerPolicy:
    """The shares of all actions, of all decisions, for all buckets."""

    rules: Limit | NoLimit
    buckets: Buckets
    shares: NDArray[np.uint8]  # the share of each action in steps of 1/255, as ``PublicTree.entries`` orders them
    value: float  # the payoff of seat 0, who has the small blind, when both play by it

    @functools.cached_property
    def tree(self) -> PublicTree:
        return betting_tree(self.rules)

    @functools.cached_property
    def starts(self) -> Ints:
        return self.tree.entries(self.buckets.sizes.types)[0]

    def probabilities(self, actions: list[int], hand: tuple[int, int], board: tuple[int, ...]) -> dict[int, float]:
        """How likely each action is after others, the small blind's first; cards as in ``poker.cards``."""
        tree, node = self.tree, 0
        for action in actions:
            node = int(tree.children[tree.firsts[node] + tree.actions_of(node).index(action)])
        legal = tree.actions_of(node)
        bucket = self.buckets.of_hand(pair_number(*hand), sum(1 << card for card in board))
        start = int(self.starts[node]) + bucket * len(legal)
        found = self.shares[start : start + len(legal)].astype(float)
        if not found.any():
            return dict.fromkeys(legal, 1 / len(legal))
        return dict(zip(legal, (found / found.sum()).tolist(), strict=True))

    def save(self, path: str | os.PathLike[str]) -> None:
        bounds = {f"equity{part}": each for part, each in enumerate(self.buckets.equity_bounds)}
        bounds |= {f"spread{part}": each for part, each in enumerate(self.buckets.spread_bounds)}
        arrays = {"shares": self.shares, **{name: each.astype(np.float32) for name, each in bounds.items()}}
        about = {"rules": type(self.rules).__name__, "value": self.value, **self.buckets.sizes._asdict()}
        write_arrays(path, KIND, 1, about, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> PokerPolicy:
        """Reads a file, and refuses what is no such policy."""
        about, arrays = read_arrays(path, KIND, 1, _Header, _FORMS, _check_shapes)
        bounds = [[arrays[f"{name}{part}"] for part in range(3)] for name in ("equity", "spread")]
        with in_a_sentence(path, KIND):
            if not all((np.diff(each) >= 0).all() for each in bounds[0] + bounds[1]):
                raise ValueError("its bounds of buckets are not ascending")
        return cls(about.hold_em, Buckets(about.sizes, *bounds), arrays["shares"], about.value)


KIND: Final = FileKind("policy of hold'em", f"policy is {SHIPPED!r}, or a file that scripts/fit_poker.py wrote")
_FORMS: Final = {
    "shares": Form("|u1", 1),
    **{f"equity{part}": Form("<f4", 1) for part in range(3)},
    **{f"spread{part}": Form("<f4", 2) for part in range(3)},
}
_Count = Annotated[int, msgspec.Meta(ge=1, le=1_000)]


class _Header(msgspec.Struct, frozen=True):
    rules: Literal["Limit", "NoLimit"]
    value: float
    equity: tuple[_Count, _Count, _Count]
    spread: tuple[_Count, _Count, _Count]

    @property
    def hold_em(self) -> Limit | NoLimit:
        return Limit() if self.rules == "Limit" else NoLimit()

    @property
    def sizes(self) -> Sizes:
        return Sizes(self.equity, self.spread)


def _check_shapes(about: _Header, shapes: Mapping[str, tuple[int, ...]]) -> None:
    for part, (equity, spread) in enumerate(zip(*about.sizes, strict=True)):
        if shapes[f"equity{part}"] != (equity - 1,) or shapes[f"spread{part}"] != (equity, spread - 1):
            raise ValueError("its bounds of buckets are not as many as its buckets")
    if shapes["shares"] != (betting_tree(about.hold_em).entries(about.sizes.types)[1],):
        raise ValueError("its shares are those of another tree")


def quantized(shares: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Shares in steps of 1/255."""
    return np.rint(_STEPS * shares).astype(np.uint8)


@functools.lru_cache(maxsize=4)  # by the file's name and version: nothing else decides what is read
def _loaded(path: str, *_version: int) -> PokerPolicy:
    return PokerPolicy.load(path)


def policy_for(rules: Limit | NoLimit, name: str) -> PokerPolicy:
    """The policy that a setting names."""
    shipped = Path(__file__).with_name("limit.npz" if isinstance(rules, Limit) else "no_limit.npz")
    path = str(shipped) if name == SHIPPED else name
    policy = _loaded(path, *file_version(path))
    if policy.rules != rules:
        raise InvalidSettingError(f"{name} holds a policy for {policy.rules}, not for {rules}")
    return policy


def seen_by(env: Any, seat: int) -> tuple[list[int], tuple[int, int], tuple[int, ...], bool]:
    """The actions so far in RLCard's environment, a player's hand, the board, and if it has the small blind."""
    inside = env.env
    game, record = inside.game, inside.action_recorder
    actions = [_ACTIONS.index(action) if isinstance(action, str) else int(action.value) for _, action in record]
    first, second = (_card(card) for card in game.players[seat].hand)
    small_blind = record[0][0] if record else game.game_pointer
    return actions, (first, second), tuple(map(_card, game.public_cards)), int(small_blind) == seat


def _card(card: Any) -> int:
    return 13 * _SUITS.index(card.suit) + _RANKS.index(card.rank)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class HoldemAgent(SearchAgent):
    """Plays Texas hold'em for two, with or without a limit, by a policy that CFR computed beforehand.

    The policy is that of a smaller game, in which hands that are about as strong as each other are treated alike.
    Actions are drawn as it mixes them.

    Attributes:
        policy: ``"equity"``, which comes with the package, or a file that ``scripts/fit_poker.py`` wrote.
    """

    kind: ClassVar[str] = "holdem"

    policy: str = path(SHIPPED)

    def check_game(self, game: Game[Any]) -> None:
        require_information_states(game, self.kind)
        policy_for(require_holdem(game), self.policy)

    def kernels(self, root: Position) -> list[Wanted]:
        return [equities_kernel()] if self.compile is not Compile.NEVER and can_compile() else []

    def choose(self, request: Request, budget: Budget) -> SearchResult:
        game, state = request.game, request.state
        policy, seat = policy_for(require_holdem(game), self.policy), game.to_move(state)
        if not is_rlcards(game, state):
            raise UnsupportedGameError(
                f"holdem reads the cards of RLCard's environment, which {game.traits.name} has not: use 'ismcts'"
            )
        with budget.off_the_clock():
            compiled = request.compile is not Compile.NEVER and is_compiled(budget.waits)
        actions, hand, board, is_first = seen_by(game.environment(state), seat)
        shares = policy.probabilities(actions, hand, board)
        value = policy.value if is_first else -policy.value
        return request.result(
            budget,
            action=drawn_action(shares, float(self.generator.random())),
            value=value,
            values_by_seat=game.traits.values_by_seat(seat, value),
            nodes=1,
            is_estimate=True,
            policy=shares,
            compiled=compiled,
        )
