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
(``zermelo.envs.rules.bits`` has the tools for full 64-bit boards), also those read from an array of smaller ones,
which plain Python needs to be told by ``int(table[index])``; a method always returns the same types; a
state is made by calling its class; no dictionaries, strings or objects. Methods may call each other through
``self`` and any plain function of their module. ``zermelo.envs.check_rules`` plays the game compiled and not,
and says what is wrong. Nothing is compiled, and Numba is not imported, before a kernel needs it.
"""

from zermelo.envs.support.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
