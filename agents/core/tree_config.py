"""Settings of the searches of a game tree: an agent makes one object, which plain and compiled searches read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from zermelo.agents.core.options import ChanceAtLimit, ChancePruning, Ordering, TieRule
from zermelo.agents.core.settings import check_settings, choice, flag, function, number, path, whole


@dataclass(frozen=True, kw_only=True)
class TreeConfig:
    """Settings that every search of a game tree has.

    Attributes:
        depends_on_seat: Whether the seat to move at the root maximizes, not the first: a table serves one seat.
        sooner: Whether, of equal values, wins come sooner and losses later.
        memory_mb: The memory that the transposition table may use, in MiB; 0 does without.
        ordering: In which order a search that prunes tries actions; without pruning it is ascending.
    """

    depends_on_seat: bool = flag(False)
    sooner: bool = flag(True)
    memory_mb: float = number(0.0, lower=0)
    ordering: Ordering = choice(Ordering.AUTO)

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True, kw_only=True)
class AlphaBetaConfig(TreeConfig):
    """Settings of alpha-beta: minimax, expectiminimax, expectimax, paranoid and best-reply search are such.

    The last five and ``threads`` count in compiled searches of two players only.

    Attributes:
        pruning: What is left out; ``NONE`` visits every node.
        use_bounds: Whether to use that no utility lies outside the game's bounds; None does where evaluations
            cannot either.
        quiescence: How many moves beyond the depth to follow noisy actions, if the game has ``is_noisy``.
        history_on_improvement: Whether the order learns from every action that was better than what was known
            before, where the seat had chosen it; without, only from those that cut off.
        chance_at_limit: What a chance state is worth at the depth limit.
        min_probability: Without pruning: states that chance leads to with less probability than this, counted
            from the root, are evaluated.
        replies: ``replies(game, state)``: the actions of the other seats with their probabilities, if these are
            averaged over. In plain Python only.
        threads: How many threads search together.
        late_move_reductions: How many actions of a node are searched to the full depth before later ones are
            searched less deep first; 0 for all.
        null_move: How many moves less deep, beyond the skipped turn, a null move is searched; 0 for none.
        futility: How much more than its evaluation a state may be worth to its player to move, one move before
            the depth limit; 0 leaves nothing out.
        singular: By how much an action must beat all others to be searched one move deeper; 0 for none.
        share_positions: Whether positions share their table entries whatever was before them, in rules in which
            that matters.
        tables: A file with an endgame table; what it knows is a proven leaf.
    """

    pruning: ChancePruning = choice(ChancePruning.STAR1)
    use_bounds: bool | None = flag(None)
    quiescence: int = whole(0)
    history_on_improvement: bool = flag(False)
    chance_at_limit: ChanceAtLimit = choice(ChanceAtLimit.AVERAGE)
    min_probability: float = number(0.0, lower=0.0, upper=1.0)
    replies: Callable[[Any, Any], Any] | None = function("of game and state")
    threads: int = whole(1, lower=1)
    late_move_reductions: int = whole(0)
    null_move: int = whole(0)
    futility: float = number(0.0, lower=0.0)
    singular: float = number(0.0, lower=0.0)
    share_positions: bool = flag(False)
    tables: str | None = path()

    @property
    def prunes(self) -> bool:
        """Whether anything is left out."""
        return self.pruning is not ChancePruning.NONE

    @property
    def is_selective(self) -> bool:
        """Whether some moves are searched less deep than others, or deeper."""
        return bool(self.late_move_reductions or self.null_move or self.futility or self.singular)


@dataclass(frozen=True, kw_only=True)
class MaxNConfig(TreeConfig):
    """Settings of max^n.

    Attributes:
        tie_rule: Which of several actions a player takes that are as good for itself.
        prunes: Whether to prune: the game's sum is constant and its utilities have a lower bound, also where
            evaluations stand for them.
    """

    tie_rule: TieRule = choice(TieRule.FIRST)
    prunes: bool = flag(False)
