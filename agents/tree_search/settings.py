"""Settings of the agents that search a game tree, and what of them the searches read, as one object."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from zermelo.agents.base.machine import megabytes
from zermelo.agents.base.settings import ChanceAtLimit, check_settings, choice, declared, flag, integer, number
from zermelo.agents.workers.agent import WorkerSettings

MIN_REDUCED_DEPTH: Final = 3
"""Late moves are searched less deep only at nodes with at least so many moves to look ahead."""


class ChancePruning(enum.StrEnum):
    """Pruning where there is chance. It never changes a value."""

    NONE = "none"
    """Nothing: every node down to the depth is visited."""
    STAR1 = "star1"
    """Leaves out outcomes that cannot bring the average of a chance node back into the window."""
    STAR2 = "star2"
    """Star1 after probing one action in each outcome."""


class Ordering(enum.StrEnum):
    """How actions are ordered. It changes how long a search to a depth takes, not what it is worth."""

    AUTO = "auto"
    """The table's action, then killers (actions that cut off a sibling at the same ply), then the game's own
    ``ordering_hint`` if it has one, then history (how often an action cut off anywhere), then ascending."""
    FIXED = "fixed"
    """Ascending, always: what textbooks count nodes with."""


class TieRule(enum.StrEnum):
    """Which of several actions a player takes that are as good for itself but not for the others.

    In max^n the value of a position depends on it: Sturtevant and Bowling, "Robust Game Play Against Unknown
    Opponents", AAMAS (2006). What is still equal is decided for the smallest action number.
    """

    FIRST = "first"
    """The one with the smallest number."""
    PARANOID = "paranoid"
    """The one that is worst for the seat to move at the root."""
    FRIENDLY = "friendly"
    """The one that is best for the seat to move at the root."""
    SPITEFUL = "spiteful"
    """The one that leaves least to all others together."""
    GENEROUS = "generous"
    """The one that leaves most to all others together."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SelectiveSettings:
    """Settings by which a compiled search of two players looks less deep at some moves.

    Attributes:
        late_move_reductions: Actions of a node that are searched to the full depth; those after them are first
            searched less deep. 2 or 3 is usual, 0 turns reductions off. An action is reduced more the later it
            comes, the more depth is left, and if it seldom caused cut-offs elsewhere. One that turns out better
            than the best so far is searched again to the full depth. Never reduced are noisy actions, those after
            which the same player is to move, and all in the last two plies.
        null_move: Minimum reduction of the depth after a null move; 2 is usual, 0 turns null moves off. In a state
            that is evaluated as good enough the player to move skips its turn; if a search of what follows, so
            much less deep, is still good enough, so is the state. Only for games with ``pass_turn(state)``, and
            only good where having to move seldom hurts.
        futility: How much one move may change the evaluation; 0 turns this pruning off. Near the depth limit a
            state is not searched if it is better than beta by so much for each ply left, and quiet actions are
            left out if it is as much worse than alpha, if many were tried, or if ``is_losing`` says so.
        share_positions: Whether positions share table entries whatever came before them, as in chess engines, in
            rules with ``repetition_key``. It is faster, above all with superko, and may be wrong where the past
            matters ("graph history interaction": Campbell 1985; Kishimoto and Mueller 2004), so what the table
            says is never proven; a value in which the repetition of an earlier position has counted is not stored.
    """

    late_move_reductions: int = integer(0, "actions")
    null_move: int = integer(0, "plies")
    futility: float = number(0.0, "utility", lower=0)
    share_positions: bool = flag(False)


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TableSettings:
    """Settings of every search with a transposition table.

    Attributes:
        memory_mb: The memory that the transposition table may use, in MiB; 0 does without, and the machine's is
            the most.
        reuse: Whether the table of one move serves the next ones of the same game, until ``reset``. Not with
            a stop test or sampled chance, and only where ``as_game`` gives an equal game for each move.
    """

    memory_mb: float = megabytes(64)
    reuse: bool = flag(False)

    @property
    def keeps_table(self) -> bool:
        return self.reuse


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PruningSettings(TableSettings, WorkerSettings):
    """Settings of every search that leaves out what cannot change the value.

    Attributes:
        seconds: Time for a move, from the call on; None takes as long as it needs. ``"auto"`` is a second where
            there is no other limit.
        exact: Whether every root action gets its exact value, not only those that are best.
        ordering: In which order actions are tried: ``"auto"``, or ``"fixed"`` for ascending.
        deepening: Whether to search one move deep first, then two, and so on; None does so where a node or time
            limit may stop the search half way, or one iteration helps the next (max^n: only the former).
    """

    seconds: float | str | None = declared("auto", None, 'a number greater than 0, or "auto"', "seconds")
    exact: bool = flag(False)
    ordering: Ordering = choice(Ordering.AUTO)
    deepening: bool | None = flag(None)

    @property
    def is_exact(self) -> bool:
        return self.exact


@dataclass(frozen=True, kw_only=True)
class TreeConfig:
    """The settings that every search of a game tree reads; agents declare and check them.

    ``depends_on_seat`` says that the seat to move at the root maximizes, not the first: a table serves one seat.
    """

    depends_on_seat: bool = False
    prefer_short_wins: bool = True
    memory_mb: float = 0.0
    ordering: Ordering = Ordering.AUTO

    @property
    def has_kernel(self) -> bool:
        """True if a compiled search may have these settings."""
        return True

    @property
    def move_ordering(self) -> Ordering:
        """The order in which actions are searched: where nothing is left out, it does not matter."""
        return self.ordering


@dataclass(frozen=True, kw_only=True)
class AlphaBetaConfig(SelectiveSettings, TreeConfig):
    """Settings of alpha-beta: minimax, expectiminimax, expectimax, paranoid and best-reply search are such.

    Attributes:
        use_bounds: Whether to use that no utility lies outside the game's bounds; None does where evaluations
            cannot either.
        history_on_improvement: Whether the order learns from every action that was better than what was known
            before, not only from those that cut off.
        replies: ``replies(game, state)``: the actions of the other seats with their probabilities, if these are
            averaged over. In plain Python only.
    """

    pruning: ChancePruning = ChancePruning.STAR1
    use_bounds: bool | None = None
    quiescence: int = 0
    history_on_improvement: bool = False
    chance_at_limit: ChanceAtLimit = ChanceAtLimit.AVERAGE
    beam_width: int = 0
    replies: Callable[[Any, Any], Any] | None = None
    threads: int = 1
    tables: str | None = None

    def __post_init__(self) -> None:
        check_settings(self)  # the rules of a game may give selective ones

    @property
    def has_kernel(self) -> bool:
        return self.replies is None

    @property
    def move_ordering(self) -> Ordering:
        return self.ordering if self.prunes else Ordering.FIXED

    @property
    def prunes(self) -> bool:
        return self.pruning is not ChancePruning.NONE

    @property
    def is_selective(self) -> bool:
        return bool(self.late_move_reductions or self.null_move or self.futility)


@dataclass(frozen=True, kw_only=True)
class MaxNConfig(TreeConfig):
    """Settings of max^n, which may prune where the sum is constant and all values have a lower bound."""

    tie_rule: TieRule = TieRule.FIRST
    prunes: bool = False
