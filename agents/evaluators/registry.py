"""Evaluators by name, from files and other people's modules, and those that are written with a game."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from zermelo.agents.base.experts import by_name, class_at, experts
from zermelo.agents.base.scores import expected_reward
from zermelo.agents.base.settings import check_spec, import_name, setting_text
from zermelo.agents.evaluators.protocol import Evaluator
from zermelo.envs.capabilities import SupportsEvaluation, offers
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.game import Game
from zermelo.envs.support.calls import checked_call
from zermelo.envs.support.data_files import in_a_sentence, read_json
from zermelo.envs.support.spec_text import Spec, parse_spec, unknown_name

if TYPE_CHECKING:
    from zermelo.agents.evaluators.fitted_linear import FittedLinear
    from zermelo.agents.evaluators.network import PlaneNetwork


EVALUATORS: Final = {
    "game": "evaluators.registry:GameEvaluator",
    "linear": "evaluators.registry:load_evaluation",
    "network": "evaluators.network:ShippedNetwork",
    "onnx": "evaluators.policy_value:OnnxNetwork",
    "playout": "evaluators.playout:PlayoutEvaluator",
    "rewards": "evaluators.registry:RewardsEvaluator",
    "torch": "evaluators.policy_value:TorchNetwork",
}
"""Where the evaluators are that have a name; experts add theirs. A module is imported when one is asked for."""


@checked_call
def make_evaluator(given: Evaluator | str | Spec) -> Evaluator:
    """The evaluator that a name, a spec or a function means.

    ``given`` is an evaluator; the name of one of ours, with its settings (``"playout(games=8)"``); a file that
    ``zermelo tune`` wrote (``"breakthrough.json"``, or ``linear(path=..., features="module:name")`` with features
    of your own); or ``"module:name"`` of a function of game and state, or of a class whose objects are called so.

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
        if not inspect.isbuiltin(given):  # made in C, it has no signature
            signature = inspect.signature(given)
            try:
                signature.bind(None, None)
            except TypeError:
                raise InvalidSettingError(
                    f"evaluator must be a function of game and state, but {setting_text(given)} is called with "
                    f"{signature}"
                ) from None
        return given
    if isinstance(given, str) and given.endswith(".json"):
        return load_evaluation(given)
    spec = parse_spec(given) if isinstance(given, str) else given
    if ":" in spec.name:
        imported = import_name(spec.name)
        if isinstance(imported, type):
            return make_evaluator(_build(imported, spec))
        if spec.arguments:
            raise InvalidSettingError(f"{spec.name!r} is not a class, so it takes no settings: {spec}")
        return make_evaluator(imported)
    places = EVALUATORS | by_name("evaluators")
    if spec.name not in places:
        raise unknown_name("evaluator", spec.name, places)
    return _build(class_at(places[spec.name]), spec)


def load_evaluation(path: str, features: str = "") -> FittedLinear | PlaneNetwork:
    """The evaluation in a file; features of your own, ``"module:name"``, are imported only if given here too."""
    from zermelo.agents.evaluators.fitted_linear import StoredLinear
    from zermelo.agents.evaluators.network import KIND, LARGEST, StoredNetwork

    with in_a_sentence(path, KIND):
        stored: Any = read_json(path, KIND, StoredLinear | StoredNetwork, largest=LARGEST)
        if isinstance(stored, StoredNetwork):
            return stored.evaluator(path)
    fitted: FittedLinear = stored.evaluator(path, features)
    return fitted


def _build(make: Callable[..., Evaluator], spec: Spec) -> Evaluator:
    check_spec(spec, inspect.signature(make).parameters)
    try:
        return make(**spec.arguments)
    except TypeError as error:
        raise InvalidSettingError(f"cannot make the evaluator {spec}: {error}") from None


def evaluator_name(evaluator: Evaluator | None) -> str:
    """The name of an evaluator in results: its spec, or ``module:name``; empty for None."""
    spec = getattr(evaluator, "spec", None)
    if callable(spec):
        return str(spec())
    return "" if evaluator is None else str(setting_text(evaluator))


@dataclass(frozen=True, kw_only=True)
class GameEvaluator:
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
class RewardsEvaluator:
    """Expects nothing beyond what has been paid, or an equal share of what is left of a constant sum.

    Where the bounds of utility leave that out, it is the nearer bound.
    """

    def spec(self) -> str:
        return "rewards"

    def __call__(self, game: Game[Any], state: Any) -> Sequence[float]:
        return (expected_reward(game.traits, game.utility(state)),) * game.traits.seats


def features_for(game: Game[Any], state: Any) -> Evaluator | None:
    """The game's own evaluation, or that of its expert; None if there is none."""
    if offers(game, SupportsEvaluation):
        return GameEvaluator()
    evaluators = (expert.evaluator(game, state) for expert in experts())
    return next((evaluator for evaluator in evaluators if evaluator is not None), None)


def default_evaluator(game: Game[Any], state: Any) -> Evaluator:
    """The evaluator of a search that was given none: the written one, else ``"rewards"``, which win.

    Against alpha-beta with playouts at 0.3 s a move, compiled: 13-7 (Clobber), 18-2 (Hex 7x7), 10-0 (Go 5x5); over
    copies at 0.15 s: 7-3 (Connect Four, Clobber) against two games of 60 moves, which won 6-4 against eight whole
    ones.
    """
    return features_for(game, state) or RewardsEvaluator()
