"""Rules written once, as ordinary Python, that run in a debugger and compile to native speed.

A game is two named tuples: one of parameters with the rules as methods, and one of integers, the state. ::

    class Countdown(NamedTuple):
        start: int = 21                     # parameters: integers (or float)

    class CountdownState(NamedTuple):
        left: int                           # the state: integers of 64 bits, never changed
        mover: int

Methods that every game has (``actions`` is a buffer to write into, ``max_legal_actions()`` long; all integers):

    ==================================  ==========================================================================
    ``num_actions()``                   how many different actions there are; they are 0 to ``num_actions() - 1``
    ``initial_state()``                 where the game starts. Never compiled
    ``to_move(state)``                  the seat to move, from 0, or ``CHANCE`` (-1); any seat at the end
    ``legal_actions(state, actions)``   writes the legal actions, ascending, and returns how many; at least one
                                        unless the state is terminal
    ``result(state, action)``           the state after an action, or after a chance outcome
    ``is_terminal(state)``              whether the game has ended
    ``utility(state, seat)``            what the seat has got; asked at terminal states only
    ==================================  ==========================================================================

Methods that a game may have, and what stands in for them:

    ===================================  =========================================================================
    ``seats()``                          the number of players; 2
    ``player_actions()``                 how many actions players have: the first so many numbers, while the others
                                         are chance outcomes only; ``num_actions()``. It sizes action spaces
    ``max_legal_actions()``              the most actions, or outcomes of chance, that any state has;
                                         ``num_actions()``. It sizes the buffers that they are written into
    ``count_legal(state, actions)``      how many legal actions there are, where that is quicker to say than to
                                         write them; the buffer may be used. ``perft`` asks it
    ``utility_bounds()``                 (least, greatest) utility that a seat can get; (-1, 1)
    ``utility_sum()``                    what all seats' utilities add up to at every end; 0. ``GENERAL_SUM``
                                         where that varies
    ``chance_outcomes(state, outcomes,   at a chance state, writes outcomes (integers) and their probabilities
    probabilities)``                     (floats that sum to one) and returns how many; without it, no chance
    ``key(state)``                       an integer of 64 bits, equal only for states with the same future; without
                                         it a table keeps a 64-bit hash of the whole state
    ``key_bits()``                       how many low bits such a key uses; 64
    ``evaluation(state, seat)``          how good an unfinished state looks, in 1024ths (``EVALUATION_UNIT``) of a
                                         point of utility; kept strictly inside the utility bounds; the middle.
                                         With chance it must be a positive linear transformation of expected
                                         utility: averages are compared, so the order of states is not enough
    ``evaluates_before_chance()``        whether chance states at the depth limit are best evaluated as they are,
                                         say before the next player's roll; else searches evaluate each outcome
                                         there, and average. Never compiled; False
    ``ordering_hint(state, action)``     greater is searched earlier; from 2 ** 26 on before killers; 0
    ``is_noisy(state, action)``          quiescence follows such actions beyond the depth limit; False
    ``playout_action(state, random)``    an action for a playout (Monte Carlo tree search), by 64 random bits; -1,
                                         as without it, for any legal one, all as likely
    ``action_priors(state, actions,      for Monte Carlo tree search: writes for each of the first ``count``
    count, priors)``                     actions how many simulations, won if positive, lost if negative (floats),
                                         it is as good as before it is tried, and returns ``count``; 0.0 for each
    ``playout_moves()``                  after so many moves a playout is cut off, where it could go on for ever.
                                         Never compiled; no limit
    ``noisy_actions(state, actions)``    writes the legal actions that are noisy, ascending, and returns how many,
                                         where that is quicker than asking of each
    ``is_urgent(state)``                 whether selective searches look one move further there, as in check; False
    ``pass_turn(state)``                 the state as if the player to move had skipped its turn, so that another
                                         is to move: no move of the game; best-reply search and null moves use
                                         it. The state itself where nobody should skip, as in check. Without it
                                         nobody skips
    ``received(state, seat)``            how much of its utility the seat has got so far, where it grows on the
                                         way; what is to come must follow from ``future(state)``. Never compiled; 0
    ``future(state)``                    the state as if nothing had been received: value iteration takes states
                                         with the same future for one. Never compiled; the state itself
    ``repetition_key(state)``            where repetition matters: an integer of 64 bits, equal for states that
                                         count as the same position, which need not have the same future; 0 for
                                         one that never counts, say after a pass
    ``repetition_limit()``               which occurrence of a position matters, the game's past included; 3
    ``repetition_is_illegal()``          whether players must not reach it (superko, with a limit of 2): some other
                                         action must be there, such as a pass. Else it ends the game; False
    ``repetition_is_claimed()``          whether it ends the game one move before, as soon as the player to move
                                         could reach it, as by a claim in chess; False
    ``repetition_utility(state, seat)``  what a seat gets then; 0
    ``reversible_plies(state)``          how many states back the first may lie that can still come again, as moves
                                         of chess since the last capture or pawn's move; all. Fewer are faster
    ``symmetries()``                     the number of symmetries, the identity (number 0) included; 1
    ``symmetric_state(state, s)``        the state seen through symmetry number ``s``
    ``symmetric_action(action, s)``      the action seen through symmetry number ``s``
    ``bounds(state)``                    for proofs, at an unfinished state: (least, greatest) score the mover can
                                         still reach, by static bounds (``zermelo.envs.rules.scores``);
                                         whatever has been before
    ``bounds_see_ends()``                whether ``bounds`` settles every state in which an action ends the game,
                                         so that a proof need not ask ``is_terminal`` after each action; False
    ``safe_actions(state, actions)``     for proofs, where ``bounds`` did not settle the state: the legal actions,
                                         in any order, but for those that another one listed is at least as good as
    ===================================  =========================================================================

States handed to searches, evaluators and methods carry the keys of the past where rules have ``repetition_key``:
``RulesGame`` and ``RulesEnv`` see to that, ``with_past`` gives a state the past of somebody else's environment. To
tables positions are the same only with the same positions behind them, so no value is wrong and a proof is one;
with superko hardly any are met twice. Symmetries are not used then, nor is ``safe_actions``.

In a game in which players do not see the whole state three methods say what they see, and only agents that heed it
play it: ``information_state_key(state, seat)``, ``resample(state, seat, generator)``, both as in
``zermelo.envs.capabilities.SupportsInformationStates`` and never compiled, and an observation (below).
``moves_so_far(state)``, the outcomes and actions that lead there from the start, lets searches weigh what players
may hold by how they have played. ``zermelo.envs.games.hidden.kuhn`` is one to copy.

Players who move at the same time are asked in turn too, and do not see what the others of a round have chosen.
``round_start(state)`` then takes back, for searches that mix, what has been chosen in the present round, and
``hides_more()`` says whether anything else is hidden (False). ``zermelo.envs.games.hidden.goofspiel`` is one to
copy.

Other methods never compiled: ``check()`` raises ``InvalidSettingError`` for parameters that are out of range and
is called before a game begins; ``search_settings(search)`` returns the settings of a search, such as ``"mcts"``,
that the agent ``auto`` takes here; for people and learning agents ``text(state)``, ``action_text(state, action)``,
``action_aliases(state, action)`` (other texts of an action), ``seat_names()``, ``image(state)``
(``zermelo.envs.pictures.boards``), ``observation(state, seat)``, ``observation_shape()``, ``observation_dtype()``
and ``observation_bounds()`` (``zermelo.envs.rules.observations``). In place of ``observation`` rules may have
``write_observation(state, seat, numbers)``, which is compiled where many games are played at once
(``zermelo.agents.learning.make_vec``).

What compiled code cannot do, and uncompiled code must not rely on: integers have 64 bits and a sign
(``zermelo.envs.rules.bits`` has the tools for full 64-bit boards); a method always returns the same types; a
state is made by calling its class; no dictionaries, strings or objects. Methods may call each other through
``self`` and any plain function of their module. ``check_rules`` plays the game compiled and uncompiled side by
side and says what is wrong. Nothing is compiled, and Numba is not imported, before a kernel needs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zermelo.envs.rules.defaults import EVALUATION_UNIT, GENERAL_SUM
from zermelo.envs.rules.history import with_past
from zermelo.envs.rules.rules_game import RulesGame, is_rules

__all__ = ["EVALUATION_UNIT", "GENERAL_SUM", "RulesGame", "check_rules", "is_rules", "with_past"]

if TYPE_CHECKING:
    from zermelo.envs.jit.check_rules import check_rules
else:

    def __getattr__(name: str) -> Any:
        """``check_rules``, which is built on this package and so comes when it is asked for."""
        if name != "check_rules":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from zermelo.envs.jit.check_rules import check_rules

        return check_rules
