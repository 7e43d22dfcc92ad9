"""The block of numbers that a kernel and the Python around it share, as a named record.

A kernel takes it as its last argument and reads and writes ``search.nodes``, ``search.stop``: plain loads and
stores. Python has the same names on the object itself. Arrays are not in it, only their addresses
(``zermelo.envs.jit.memory``): indexing an array field would build an array each time. Every kernel uses what it
needs of the one layout. Whole numbers are ``int``, floats ``float``, all of eight bytes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

BUSY_BITS: Final = 14
"""The logarithm of how many marks there are of positions that are being searched."""

CHANCE_KEY: Final = 0x5DEECE66D  # times a state's tag it makes the table's key of the state's

NO_LIMIT: Final = (1 << 63) - 1

COUNTED: Final = 1 << 15
"""For so many counts of visits the functions of Monte Carlo search are looked up."""

GOING: Final = 0
OUT_OF_NODES: Final = 1
ASKED: Final = 2
TOO_DEEP: Final = 3
OUT_OF_STACK: Final = 4
OUT_OF_MEMORY: Final = 5
"""There is no room for more records: the front end gives more and calls again."""
SUM_NOT_CONSTANT: Final = 6  # evaluations do not add up, so max^n must not prune


class SharedRecord(ctypes.Structure):
    """Numbers that Python and a kernel share, and the arrays whose addresses they hold.

    A class of records lists its fields as annotations, and then sets ``_fields_`` to ``fields_of`` itself.
    """

    def __init__(self) -> None:
        super().__init__()
        self.held: dict[str, npt.NDArray[Any]] = {}
        """The arrays behind the fields, by the fields' names."""

    @property
    def data(self) -> SharedRecord:
        """The memory, as Numba asks a record for it: so a record is itself what its kernel is given."""
        return self

    def hold(self, name: str, array: npt.NDArray[Any]) -> None:
        """Writes an array's address into a field, and keeps the array alive while it is there."""
        self.held[name] = array
        setattr(self, name, array.ctypes.data)


def fields_of(record: type[SharedRecord]) -> list[tuple[str, Any]]:
    """The fields of a class of records: the annotations are their one list."""
    return [
        (name, ctypes.c_double if kind == "float" else ctypes.c_int64)
        for name, kind in record.__annotations__.items()
    ]


class Search(SharedRecord):
    """One thread's shared numbers, and the arrays whose addresses they hold."""

    # Limits and counters (all kernels).
    stop: int
    """Why to stop; Python may write ``ASKED`` at any time while the kernel runs without the interpreter's lock."""
    nodes: int
    node_limit: int
    unclaimed: int  # where threads share a limit: the address of how many nodes nobody has claimed yet; else 0
    deepest: int
    max_ply: int
    stack_start: int  # the stack's address at the kernel's first node; 0 before
    stack_room: int  # bytes of stack that the kernel may use
    # Memory (all kernels).
    actions: int  # how many action numbers there are
    choices: int  # how many numbers of actions or choices there are: a player's history has so many entries
    width: int  # the most actions, outcomes or choices that a node can have
    rows: int  # the address of a row of words for each ply or level
    row: int  # words in a row
    lines: int  # the address of the principal variations of all plies (``memory.line_of``)
    line: int  # words for the longest principal variation
    arena: int  # the address of memory for records that lie one behind the other, for kernels without rows
    arena_end: int
    room: int  # bytes of the arena that a node may use before it visits another
    scratch: int  # the address of a few words that any node may use
    nothing: int  # -1: a recursive kernel takes no constants as arguments
    # The transposition table (see ``table``).
    table: int  # its address; 0 for none
    table_bits: int  # the logarithm of its number of buckets
    entry_words: int
    action_bits: int
    age: int
    table_hits: int
    table_stores: int
    tables: int  # the address of an endgame table's block (``endgame_tables``)
    journal: int  # the address of how many entries this thread has filled, and of their addresses
    journal_room: int  # how many of them are on record at most
    # Move ordering.
    ordered: int
    killers: int
    history: int
    # Several threads.
    busy: int  # the address of marks of the positions that are being searched; 0 for one thread
    # How to search.
    prefer_short_wins: int
    quiescence: int
    null_windows: int
    symmetries: int
    selective: int  # whether some moves are searched less deep than others
    late_moves: int
    reductions: int  # the address of how much less deep, in 1024ths, by depth and number of the move
    static_values: int  # the address of each ply's static evaluation for the first seat, behind two empty ones
    null_move: int
    passed_ply: int
    futility: int  # in 1024ths of a point of utility
    repetition_ply: (
        int  # where positions share their entries: the earliest ply whose repetition has counted below this node
    )
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
    # What scores mean, in whole numbers (two players, proof).
    lower_score: int
    upper_score: int
    lower_evaluation: int
    upper_evaluation: int
    span: int  # more than any value, above the middle
    total: int  # what the players' utilities add up to
    fitted: int  # the address of a network's words (``evaluators.network``); 0 for none
    # What scores mean, in floats (general kernel, max^n).
    lower_value: float
    lower_distance: float
    upper_value: float
    upper_distance: float
    middle: float  # the value that is neither a win nor a loss
    expected: float  # what a seat is taken to expect at the depth limit, where there is no evaluation
    slack: float
    # Many players (general kernel, max^n).
    seats: int
    root_seat: int
    lower_utility: int
    upper_utility: int
    evaluated: int  # whether the rules' evaluation counts at the depth limit; otherwise ``expected`` does
    tie_rule: int
    prunes: int
    wrong_values: int  # the address of evaluations that do not add up
    num_values: int  # how many seats' values a record has: all, or only the one that maximizes
    own: int  # which of them is that of the seat that maximizes
    chooser: int  # which opponent chooses in the state that is visited next; -1 for nobody
    passes: int  # whether opponents that do not choose skip their turn
    # Chance.
    probes: int
    at_chance: int  # whether a chance state at the depth limit is evaluated, not averaged over
    known: int  # the action that a probe has searched of the state that is visited next, or -1; then what it found
    known_value: float
    known_distance: float
    known_proven: int
    beam_width: int  # how many actions are searched further at a node below the root; 0 for all
    # Proof.
    key_bits: int
    distances: int  # whether scores count moves
    root_lower: int
    root_upper: int
    draws: int  # where proof numbers are searched: ends that were drawn, and positions that came again
    # Monte Carlo.
    random: int  # the counter of random numbers
    stamp: int  # the simulation that goes on; no two threads have the same
    threads: int
    solves: int
    node_words: int
    edge_words: int
    more: int  # where in an edge the words are that not all have
    weights: int  # the address of sqrt(log(n + 1)) for n below ``COUNTED``; then of 1 / sqrt(n)
    is_plain: int  # whether values are means, without anything added
    adapts: int  # whether values are measured by the outcomes so far, not by the bounds of utility
    pause: int  # no simulation begins after so many nodes
    tries_first: int  # whether each action is tried once before any is compared
    counts_losses: int
    selection: int
    has_prior: int  # whether actions have prior probabilities
    untried: float  # the value of an action that was not tried
    playouts: int
    playout_moves: int
    has_evaluation: int
    guides: int
    has_priors: int  # whether actions begin with what the rules say of them
    looks: int  # the address of outcomes and probabilities after an action that is only looked at
    observed: int  # numbers of an observation
    position_words: int  # words of a state without its past
    arena_top: int
    tree_nodes: int
    low: float
    high: float
    unit: float  # 1 / (high - low)
    exploration: float
    rave: float

    def __init__(self) -> None:
        super().__init__()
        self.node_limit = np.iinfo(np.int64).max
        self.nothing = -1
        self.start: Callable[[Any], tuple[Any, Any]]
        """Makes the arguments of a kernel from a state (``zermelo.envs.jit.history``): rules and state."""
        self.asked = False
        """True if the thread was asked to stop, also between two calls of a kernel."""

    def ask_to_stop(self) -> None:
        """Asks the kernel to return soon."""
        self.asked = True
        self.stop = ASKED


Search._fields_ = fields_of(Search)

RECORD: Final = np.dtype(Search)  # the layout, as Numba is told of it
