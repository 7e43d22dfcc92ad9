"""Kernels: what they are, whether they fit a game, and getting one ready within a time limit."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol, TypeVar

from zermelo.agents.compiled import layout
from zermelo.agents.compiled.threads import BackgroundTask, in_background
from zermelo.agents.core.budget import Budget
from zermelo.agents.core.limits import Limits
from zermelo.envs.jit.build import Kernel, build
from zermelo.envs.jit.compiling import can_compile
from zermelo.envs.rules.rules_game import RulesGame

__all__ = ["PATIENCE", "CompiledSearch", "Program", "can_evaluate", "compiled_search", "evaluates", "fits"]

PATIENCE: Final = 0.75
"""How much of a time limit to wait for the compiler, or for machine code to come from disk."""

_Kind = TypeVar("_Kind", bound="CompiledSearch")


def fits(game: Any) -> bool:
    """Whether a game's rules can be compiled here."""
    return isinstance(game, RulesGame) and can_compile()


def can_evaluate(evaluator: Any) -> bool:
    """Whether a kernel can evaluate as an evaluator does: None, ``"game"`` and ``"rewards"``."""
    return evaluator is None or getattr(evaluator, "spec", lambda: None)() in ("game", "rewards")


def evaluates(evaluator: Any) -> bool:
    """Whether the rules' own evaluation counts at the depth limit."""
    return evaluator is not None and bool(evaluator.spec() == "game")


@dataclass(frozen=True)
class Program:
    """A kernel that can be compiled for any rules.

    Attributes:
        name: What needs it, such as ``"alphabeta"``.
        module: The module it is in, under ``zermelo.agents.compiled``; importing that imports Numba.
        function: The function's name, and the types of its ``arguments`` between ``rules, state`` and ``search``.
    """

    name: str
    module: str
    function: str
    arguments: tuple[str, ...]

    def load(self, rules: Any, **constants: bool) -> Callable[..., Any]:
        """The kernel compiled for the class of ``rules``, or read from disk.

        ``constants`` say what it is to have, by the names of its module's constants (``Kernel``).

        Raises:
            RulesError: The rules do not compile; the message names the method and the line.
        """
        module = importlib.import_module(f"zermelo.agents.compiled.{self.module}")
        arguments: list[Any] = [*self.arguments, layout.RECORD]
        return build(rules, Kernel(getattr(module, self.function), arguments, tuple(constants.items())))

    def load_in_background(self, rules: Any, **constants: bool) -> BackgroundTask:
        """Begins to load the kernel, or has begun already; the task says when it is there."""
        name = type(rules), self, tuple(constants.items())
        return in_background(name, lambda: self.load(rules, **constants))


class CompiledSearch(Protocol):
    """A search that runs a kernel.

    Attributes:
        program: The kernel.
    """

    program: ClassVar[Program]

    @classmethod
    def can_search(cls, game: Any, evaluator: Any) -> bool:
        """Whether the game and the evaluator fit."""
        ...

    @classmethod
    def constants(cls, game: RulesGame, settings: Mapping[str, Any]) -> dict[str, bool]:
        """The constants of the kernel: what of it a game and settings need."""
        ...


def compiled_search(
    kind: type[_Kind], game: Any, evaluator: Any, budget: Budget, *, limits: Limits, **settings: Any
) -> _Kind | None:
    """A compiled search; None where only plain Python can do it.

    A limit on time holds for the compiler too: where it is not done in time, it goes on in the background for
    later searches, and this one is a plain one. The evaluator, the limits and the settings are the agent's.

    Raises:
        RulesError: The rules do not compile; the message names the method and the line.
    """
    if not kind.can_search(game, evaluator):
        return None
    before = budget.now()
    if limits.seconds is not None:
        loading = kind.program.load_in_background(game.rules, **kind.constants(game, settings))
        if not loading.ready_within(PATIENCE * limits.seconds):
            return None
    search: _Kind = kind(game, evaluator, budget, limits=limits, **settings)  # type: ignore[call-arg]  # each has its own
    budget.compiling += budget.now() - before
    return search
