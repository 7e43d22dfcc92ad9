"""Kernels: what they are, whether they fit a game, and getting one ready before the clock starts."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.scores import expected_reward, has_room
from zermelo.agents.base.settings import Compile, inside_bounds
from zermelo.agents.kernels.layout import KernelRecord, dtype_of
from zermelo.envs.capabilities import SupportsEvaluation, offers
from zermelo.envs.game import Chance
from zermelo.envs.jit.build import build
from zermelo.envs.jit.build import is_ready as is_built
from zermelo.envs.jit.compiling import can_compile, why_not_compiled
from zermelo.envs.jit.kernel import Kernel
from zermelo.envs.rules.rules_game import RulesGame


def fits(game: Any) -> bool:
    """Whether a game's rules can be compiled here."""
    return isinstance(game, RulesGame) and can_compile()


def can_evaluate(evaluator: Any) -> bool:
    """Whether a kernel can evaluate as an evaluator does: None, ``"game"`` and ``"rewards"``."""
    return evaluator is None or getattr(evaluator, "spec", lambda: None)() in ("game", "rewards")


def evaluates(evaluator: Any) -> bool:
    """Whether the rules' own evaluation counts at the depth limit."""
    return getattr(evaluator, "spec", lambda: None)() == "game"


def network_of(evaluator: Any, game: Any) -> Any:
    """The lookup tables of a fitted evaluation; None of others, and where only plain Python can evaluate."""
    tables = getattr(evaluator, "tables", None)
    return None if tables is None else tables(game)


@dataclass(frozen=True)
class Program:
    """A kernel that can be compiled for any rules.

    Attributes:
        name: What needs it, such as ``"alphabeta"``.
        module: The module it is in, under ``zermelo.agents``; importing that imports Numba.
        function: The function's name.
        record: The record that it takes last.
        arguments: The types of its arguments between ``rules, state`` and the record.
    """

    name: str
    module: str
    function: str
    record: type[KernelRecord]
    arguments: tuple[str, ...] = ()

    def load(self, rules: Any, *variants: Any) -> Callable[..., Any]:
        """The kernel compiled for the class of ``rules``, or read from disk; ``variants`` as in ``Kernel``.

        Raises:
            RulesError: The rules do not compile; the message names the method and the line.
        """
        return build(rules, self.kernel(*variants))

    def is_ready(self, rules: Any, budget: Budget, *variants: Any) -> bool:
        """Whether the kernel can be used now.

        The time that compiling takes is off the clock. With ``Compile.BACKGROUND`` it is done for later searches.

        Raises:
            RulesError: The rules do not compile; the message names the method and the line.
        """
        if budget.compile is Compile.NEVER:
            return False
        with budget.off_the_clock():
            return is_built(rules, self.kernel(*variants), budget.waits)

    def kernel(self, *variants: Any) -> Kernel:
        """The kernel to compile, with its variants."""
        module = importlib.import_module(f"zermelo.agents.{self.module}")
        arguments: list[Any] = [*self.arguments, dtype_of(self.record)]
        return Kernel(getattr(module, self.function), arguments, variants)


_MAX_UTILITY: Final = 1 << 40
"""Beyond that an evaluation would not be exact as a float."""


def can_search_any(game: Any) -> bool:
    """True if a game of rules can be searched compiled, whoever plays and whatever they play for."""
    if not fits(game) or game.traits.chance is Chance.SAMPLED:
        return False
    lower, upper = game.traits.utility_bounds
    return bool(lower < upper and max(-lower, upper) <= _MAX_UTILITY)


def can_search_through_chance(game: Any) -> bool:
    """True if expectiminimax fits, compiled: exact chance, for one player or two with a constant sum."""
    if not can_search_any(game) or game.traits.chance is not Chance.EXACT:
        return False
    return bool(game.traits.seats == 1 or game.traits.is_opposed)


def can_use(game: Any, evaluator: Any) -> bool:
    """True if a kernel can compute what an evaluator says of a game; other people's evaluators it cannot."""
    if evaluator is None or not can_evaluate(evaluator):
        return evaluator is None
    if evaluates(evaluator):
        return offers(game, SupportsEvaluation)
    traits = game.traits
    return inside_bounds(expected_reward(traits), traits.utility_bounds, strictly=has_room(traits))


def why_plain(
    game: Any, evaluator: Any, evaluator_name: str, budget: Budget, *, has_kernel: bool, watched: bool, cut: bool
) -> str:
    """The reason why a game of rules is searched in plain Python, as a sentence; empty of other games."""
    if not isinstance(game, RulesGame):
        return ""
    if reason := why_not_compiled():
        return reason
    if watched:
        return "a search that is watched runs in plain Python: leave its observer out"
    if cut:
        return "a stop test is plain Python: limit depth, nodes or seconds instead"
    if not has_kernel:
        return "this search has no compiled form"
    if budget.compile is Compile.NEVER:
        return "compile='never' was asked for"
    if not can_evaluate(evaluator):
        return (
            f"the evaluator {evaluator_name} is plain Python: write evaluation(state, seat) into the "
            "rules, or use evaluator='rewards'"
        )
    if budget.compile is Compile.BACKGROUND:
        return "its rules are still being compiled, in the background: compile='wait' waits for them"
    return "no kernel takes these rules with these settings"
