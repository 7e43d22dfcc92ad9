"""Kernels: what they are, whether they fit a game, and getting one ready before the clock starts."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from zermelo.agents.compiled import layout
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.options import Compile
from zermelo.envs.jit.build import Kernel, build
from zermelo.envs.jit.build import is_ready as is_built
from zermelo.envs.jit.compiling import can_compile
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


def tables_of(evaluator: Any, game: Any) -> Any:
    """The lookup tables of a fitted evaluation; None of others, and where only plain Python can evaluate."""
    tables = getattr(evaluator, "tables", None)
    return None if tables is None else tables(game)


@dataclass(frozen=True)
class Program:
    """A kernel that can be compiled for any rules.

    Attributes:
        name: What needs it, such as ``"alphabeta"``.
        module: The module it is in, under ``zermelo.agents.compiled``; importing that imports Numba.
        function: The function's name, and the types of its ``arguments`` between ``rules, state`` and ``search``.
        constants: The constants of the module that are true for this kernel.
    """

    name: str
    module: str
    function: str
    arguments: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()

    def load(self, rules: Any, **constants: bool) -> Callable[..., Any]:
        """The kernel compiled for the class of ``rules``, or read from disk.

        ``constants`` say what it is to have, by the names of its module's constants (``Kernel``).

        Raises:
            RulesError: The rules do not compile; the message names the method and the line.
        """
        return build(rules, self.kernel(**constants))

    def is_ready(self, rules: Any, budget: Budget, constants: Mapping[str, bool] = MappingProxyType({})) -> bool:
        """Whether the kernel can be used now.

        The time that compiling takes is off the clock. With ``Compile.BACKGROUND`` it is done for later searches.

        Raises:
            RulesError: The rules do not compile; the message names the method and the line.
        """
        if budget.compile is Compile.NEVER:
            return False
        with budget.off_the_clock():
            return is_built(rules, self.kernel(**constants), budget.waits)

    def kernel(self, **constants: bool) -> Kernel:
        """The kernel to compile, with its constants."""
        module = importlib.import_module(f"zermelo.agents.compiled.{self.module}")
        arguments: list[Any] = [*self.arguments, layout.RECORD]
        constants = dict.fromkeys(self.constants, True) | constants
        return Kernel(getattr(module, self.function), arguments, tuple(constants.items()))
