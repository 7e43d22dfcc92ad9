"""Rules written once, as ordinary Python, that run in a debugger and compile to native speed.

A game is two named tuples: one of parameters with the rules as methods, and one of integers, the state. ::

    class Countdown(NamedTuple):
        start: int = 21                     # parameters: integers (or float)

    class CountdownState(NamedTuple):
        left: int                           # the state: integers of 64 bits, never changed
        mover: int

Seven methods every game has, the others have defaults: ``zermelo.envs.rules.protocol`` says what each of them
gives, what stands in for it, and who calls it. Docstrings of methods that only do what it says are not needed.

States handed to searches, evaluators and methods carry the keys of the past where rules have ``repetition_key``:
``RulesGame`` and ``RulesEnv`` see to that, ``with_past`` gives a state the past of somebody else's environment. To
tables positions are the same only with the same positions behind them, so no value is wrong and a proof is one;
with superko hardly any are met twice. Symmetries are not used then, nor is ``safe_actions``.

Where players do not see the whole state, ``information_state_key`` and ``resample`` say what a seat has seen
(``zermelo.envs.games.hidden.kuhn`` is one to copy). Players who move at the same time are asked in turn, and do
not see what the others of a round have chosen: ``round_start`` (``zermelo.envs.games.hidden.goofspiel``).

What compiled code cannot do, and uncompiled code must not rely on: integers have 64 bits and a sign
(``zermelo.envs.rules.bits`` has the tools for full 64-bit boards); a method always returns the same types; a
state is made by calling its class; no dictionaries, strings or objects. Methods may call each other through
``self`` and any plain function of their module. ``zermelo.envs.check_rules`` plays the game compiled and not,
and says what is wrong. Nothing is compiled, and Numba is not imported, before a kernel needs it.
"""

from typing import TYPE_CHECKING

from zermelo.envs.errors import InvalidSettingError as InvalidSettingError
from zermelo.envs.game import CHANCE as CHANCE
from zermelo.envs.support.lazy_names import lazy_names

if TYPE_CHECKING:
    from zermelo.envs.rules.about import EquivalentRules as EquivalentRules
    from zermelo.envs.rules.about import OpenSpielRules as OpenSpielRules
    from zermelo.envs.rules.bits import bit_index as bit_index
    from zermelo.envs.rules.bits import mix as mix
    from zermelo.envs.rules.bits import popcount as popcount
    from zermelo.envs.rules.bits import shift_right as shift_right
    from zermelo.envs.rules.bits import swapped_bytes as swapped_bytes
    from zermelo.envs.rules.bits import wrapped_difference as wrapped_difference
    from zermelo.envs.rules.board_methods import Board as Board
    from zermelo.envs.rules.board_methods import Sides as Sides
    from zermelo.envs.rules.board_methods import Square as Square
    from zermelo.envs.rules.board_methods import board as board
    from zermelo.envs.rules.board_methods import board_lines as board_lines
    from zermelo.envs.rules.board_methods import limits as limits
    from zermelo.envs.rules.board_methods import with_methods as with_methods
    from zermelo.envs.rules.boards import all_squares as all_squares
    from zermelo.envs.rules.boards import draw as draw
    from zermelo.envs.rules.boards import first_column as first_column
    from zermelo.envs.rules.boards import has_row as has_row
    from zermelo.envs.rules.boards import king_moves as king_moves
    from zermelo.envs.rules.boards import list_squares as list_squares
    from zermelo.envs.rules.boards import mirrored_columns as mirrored_columns
    from zermelo.envs.rules.boards import mirrored_rows as mirrored_rows
    from zermelo.envs.rules.boards import rows_of as rows_of
    from zermelo.envs.rules.boards import square_text as square_text
    from zermelo.envs.rules.boards import stones_of as stones_of
    from zermelo.envs.rules.boards import symmetric_board as symmetric_board
    from zermelo.envs.rules.boards import symmetric_square as symmetric_square
    from zermelo.envs.rules.boards import transposed as transposed
    from zermelo.envs.rules.boards import whole as whole
    from zermelo.envs.rules.history import with_past as with_past
    from zermelo.envs.rules.protocol import EVALUATION_UNIT as EVALUATION_UNIT
    from zermelo.envs.rules.protocol import GENERAL_SUM as GENERAL_SUM
    from zermelo.envs.rules.rules_game import RulesGame as RulesGame
    from zermelo.envs.rules.rules_game import is_rules as is_rules
    from zermelo.envs.rules.scores import LOSS as LOSS
    from zermelo.envs.rules.scores import WIN as WIN
    from zermelo.envs.rules.scores import loss_in as loss_in
    from zermelo.envs.rules.scores import win_in as win_in
    from zermelo.envs.rules.words import Words as Words
    from zermelo.envs.rules.words import contains as contains
    from zermelo.envs.rules.words import count as count
    from zermelo.envs.rules.words import first_places as first_places
    from zermelo.envs.rules.words import hexagons_around as hexagons_around
    from zermelo.envs.rules.words import is_empty as is_empty
    from zermelo.envs.rules.words import list_places as list_places
    from zermelo.envs.rules.words import lowest as lowest
    from zermelo.envs.rules.words import moved_down as moved_down
    from zermelo.envs.rules.words import moved_up as moved_up
    from zermelo.envs.rules.words import no_places as no_places
    from zermelo.envs.rules.words import single as single

if not TYPE_CHECKING:  # a type checker would take every name for one of ours
    __getattr__, _names = lazy_names(
        __name__,
        {
            "about": "EquivalentRules OpenSpielRules",
            "bits": "bit_index mix popcount shift_right swapped_bytes wrapped_difference",
            "board_methods": "Board Sides Square board board_lines limits with_methods",
            "boards": "all_squares draw first_column has_row king_moves list_squares mirrored_columns "
            "mirrored_rows rows_of square_text stones_of symmetric_board symmetric_square transposed "
            "whole",
            "history": "with_past",
            "protocol": "EVALUATION_UNIT GENERAL_SUM",
            "rules_game": "RulesGame is_rules",
            "scores": "LOSS WIN loss_in win_in",
            "words": "Words contains count first_places hexagons_around is_empty list_places lowest moved_down "
            "moved_up no_places single",
        },
    )
    __all__ = sorted(["CHANCE", "InvalidSettingError", *_names])
