"""Evaluators by name, and the choice of one for a game when none is given."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from zermelo.agents.core.importing import check_spec, import_name
from zermelo.agents.core.settings import setting_text
from zermelo.agents.evaluators.boards import chess_board, go_position, read_grid
from zermelo.agents.evaluators.features import chess, go, pips
from zermelo.agents.evaluators.lines import connect_four, tictactoe
from zermelo.agents.evaluators.playout import PlayoutEvaluator
from zermelo.agents.evaluators.policy_value import OnnxNetwork, TorchNetwork
from zermelo.agents.evaluators.protocol import Evaluator
from zermelo.envs import Game, InvalidSettingError
from zermelo.envs.game import SupportsEvaluation
from zermelo.envs.spec_text import Spec, parse_spec, unknown_name

__all__ = [
    "EVALUATORS",
    "NamedEvaluator",
    "default_evaluator",
    "evaluator_name",
    "features_for",
    "make_evaluator",
]


@dataclass(frozen=True, kw_only=True)
class _FromGame:
    """The game's own ``evaluation(state)``."""

    def spec(self) -> str:
        return "game"

    def __call__(self, game: Game[Any], state: Any) -> Sequence[float]:
        evaluation = getattr(game, "evaluation", None)
        if evaluation is None:
            raise InvalidSettingError(
                f"{game.traits.name} has no evaluation of its own: use evaluator='playout', or one of your own"
            )
        values: Sequence[float] = evaluation(state)
        return values


@dataclass(frozen=True, kw_only=True)
class _RewardsOnly:
    """Nothing is expected beyond what has been paid: the middle between winning and losing."""

    def spec(self) -> str:
        return "rewards"

    def __call__(self, game: Game[Any], state: Any) -> Sequence[float]:
        traits = game.traits
        if traits.seats != 2:
            return (0.0,) * traits.seats
        share = (traits.constant - sum(game.utility(state))) / 2
        return share, share


class NamedEvaluator:
    """An evaluator of ours that its name makes again.

    Args:
        name: The name.
        evaluator: What it stands for.
    """

    def __init__(self, name: str, evaluator: Evaluator) -> None:
        self._name = name
        self.evaluator = evaluator

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedEvaluator) and other._name == self._name

    def __hash__(self) -> int:
        return hash(self._name)

    def spec(self) -> str:
        """The name."""
        return self._name

    def __call__(self, game: Game[Any], state: Any) -> Sequence[float]:
        """One value per seat."""
        return self.evaluator(game, state)

    def __reduce__(self) -> Any:
        return make_evaluator, (self._name,)


def _named(name: str, make: Callable[[], Evaluator]) -> Callable[[], Evaluator]:
    def made() -> Evaluator:
        return NamedEvaluator(name, make())

    made.__doc__ = make.__doc__
    return made


EVALUATORS: Mapping[str, Callable[..., Evaluator]] = MappingProxyType(
    {
        "chess": _named("chess", chess),
        "connect_four": _named("connect_four", connect_four),
        "game": _FromGame,
        "go": _named("go", go),
        "onnx": OnnxNetwork,
        "pips": _named("pips", pips),
        "playout": PlayoutEvaluator,
        "rewards": _RewardsOnly,
        "tictactoe": _named("tictactoe", tictactoe),
        "torch": TorchNetwork,
    }
)
"""What makes each named evaluator."""


def make_evaluator(given: Evaluator | str | Spec) -> Evaluator:
    """The evaluator that is meant.

    Args:
        given: An evaluator; the name of one of ours, with its settings (``"playout(games=8)"``); or
            ``"module:name"`` of a function of game and state, or of a class whose objects are called so.

    Raises:
        UnknownNameError: No evaluator has that name.
        InvalidSettingError: It is none of these, or a setting is wrong.
    """
    if not isinstance(given, str | Spec):
        if not callable(given):
            raise InvalidSettingError(
                "evaluator must be a function of game and state that gives one number per seat, or the name of "
                f"one, not {given!r}"
            )
        return given
    spec = parse_spec(given) if isinstance(given, str) else given
    if ":" in spec.name:
        found = import_name(spec.name)
        if isinstance(found, type):
            return make_evaluator(_build(found, spec))
        if spec.arguments:
            raise InvalidSettingError(f"{spec.name!r} is not a class, so it takes no settings: {spec}")
        return make_evaluator(found)
    if spec.name not in EVALUATORS:
        raise unknown_name("evaluator", spec.name, EVALUATORS)
    return _build(EVALUATORS[spec.name], spec)


def _build(make: Callable[..., Evaluator], spec: Spec) -> Evaluator:
    check_spec(spec, inspect.signature(make).parameters)
    try:
        return make(**spec.arguments)
    except TypeError as error:
        raise InvalidSettingError(f"cannot make the evaluator {spec}: {error}") from None


def evaluator_name(evaluator: Evaluator | None) -> str:
    """What results call an evaluator: its spec, or ``module:name``; nothing for none."""
    return "" if evaluator is None else str(setting_text(evaluator))


def features_for(game: Game[Any], state: Any) -> Evaluator | None:
    """The game's own evaluation, or one made of features of this game; None if nobody has written any."""
    if isinstance(game, SupportsEvaluation):
        return _FromGame()
    if game.traits.seats == 2:
        grid = read_grid(game, state)
        if grid is not None:
            return EVALUATORS["connect_four" if grid.drops else "tictactoe"]()
        if chess_board(game, state) is not None:
            return EVALUATORS["chess"]()
        if go_position(game, state) is not None:
            return EVALUATORS["go"]()
    return None


def default_evaluator(game: Game[Any], state: Any) -> Evaluator:
    """What a search uses where no evaluator is given: features if there are any, else playouts."""
    return features_for(game, state) or PlayoutEvaluator()
