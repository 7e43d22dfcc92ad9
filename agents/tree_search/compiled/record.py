"""The records and the variants of compiled tree searches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from zermelo.agents.base.scores import Score
from zermelo.agents.kernels.layout import ValueRecord, laid_out


def _no_visit(rules: Any, child: Any, depth: int, low: Score, high: Score, record: int, search: Any) -> int:
    return 0


class TreeVariant(NamedTuple):
    """The variant of every tree search kernel."""

    visit_child: Callable[[Any, Any, int, Score, Score, int, Any], int] = _no_visit
    """What the kernel of the root calls below it: writes the record of a state after a root action, between two
    scores for the seat that maximizes, and returns its bits."""
    general: bool = False  # the general kernel is below the root
    max_n: bool = False  # max^n is; if neither, the kernel of two players (``TwoPlayerVariant``)
    chance: bool = True  # the rules have chance
    replies: bool = True  # only one opponent answers (best reply)
    network: bool = False  # a network evaluates positions, in place of the rules


TREE: Final = TreeVariant()
"""The variant that a kernel is compiled for stands in its place (``zermelo.envs.jit.Kernel``)."""


class TwoPlayerVariant(NamedTuple):
    """The variant of the alpha-beta kernel of two players."""

    prunes: bool = True  # false where every node is visited, as in minimax
    selective: bool = False  # some moves are searched less deep than others; only where it prunes
    noisy: bool = True  # the rules have noisy actions, which are searched beyond the depth limit
    shares: bool = True
    """Positions share their table entries whatever was before them, in rules in which that matters: then the value
    of a node does not enter the table if the repetition of an earlier position has counted in it."""
    tables: bool = False  # there is an endgame table, whose positions are proven leaves
    network: bool = False  # a network evaluates positions, in place of the rules


WITH: Final = TwoPlayerVariant()
"""The variant that a kernel is compiled for stands in its place (``zermelo.envs.jit.Kernel``)."""


@laid_out
class TreeRecord(ValueRecord):
    """One thread's numbers that all tree searches have."""

    __slots__ = ()

    choices: int  # how many numbers of actions or choices there are: a player's history has so many entries
    # The transposition table (``kernel_memory``).
    table: int  # its address; 0 for none
    table_bits: int  # the logarithm of its number of buckets
    entry_words: int
    action_bits: int
    age: int
    table_hits: int
    table_stores: int
    journal: int  # the address of how many entries this thread has filled, and of their addresses
    journal_room: int  # how many of them are on record at most
    # Move ordering.
    ordered: int
    killers: int
    # The root: one call searches its actions to a depth.
    depth: int
    root_actions: int  # the address of its actions, in the order in which they are searched
    root_count: int  # how many there are
    orders_root: int  # whether the kernel puts them in order first
    root_slots: int  # the address of what is found of each
    slot_words: int
    root_done: int  # how many slots are filled
    exact: int  # whether every action gets its exact value
    sees_ties: int  # of actions as good as the best: 0 leaves them out, 1 sees those with smaller numbers, 2 all
    root_alpha: float
    root_alpha_distance: float
    root_beta: float
    root_beta_distance: float
    selective: int  # whether some moves are searched less deep than others
    lmr_after: int
    reductions: int  # the address of how much less deep, in 1024ths, by depth and number of the move
    # What scores mean.
    prefer_short_wins: int
    middle: float  # the value that is neither a win nor a loss
    root_seat: int
    own: int  # which of the values of a record is that of the seat that maximizes


@laid_out
class TwoPlayerRecord(TreeRecord):
    """One thread's numbers in a search of two players."""

    __slots__ = ()

    in_search: int  # the address of marks of the positions that are being searched; 0 for one thread
    tables: int  # the address of an endgame table's block (``endgame_tables``)
    quiescence: int
    null_windows: int
    static_values: int  # the address of each ply's static evaluation for the first seat, behind two empty ones
    null_move: int
    passed_ply: int
    futility: int  # in 1024ths of a point of utility
    repetition_ply: int
    """Where positions share their entries: the earliest ply whose repetition has counted below this node."""
    lower_score: int
    upper_score: int
    span: int  # more than any value, above the middle


@laid_out
class GeneralRecord(TreeRecord):
    """The numbers of a search of one seat against all others, with or without chance."""

    __slots__ = ()

    lower_distance: float
    upper_distance: float
    slack: float
    prunes: int
    chooser: int  # which opponent chooses in the state that is visited next; -1 for nobody
    passes: int  # whether opponents that do not choose skip their turn
    probes: int
    at_chance: int  # whether a chance state at the depth limit is evaluated, not averaged over
    known: int  # the action that a probe has searched of the state that is visited next, or -1; then what it found
    known_value: float
    known_distance: float
    known_proven: int
    beam_width: int  # how many actions are searched further at a node below the root; 0 for all


@laid_out
class MaxNRecord(TreeRecord):
    """The numbers of a search of max^n."""

    __slots__ = ()

    lower_utility: int
    upper_utility: int
    tie_rule: int
    prunes: int
    wrong_values: int  # the address of evaluations that do not add up
