"""Which Monte Carlo search runs: compiled where the rules can be compiled, the same in plain Python otherwise."""

from __future__ import annotations

import functools
from typing import Any, cast

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits
from zermelo.agents.evaluators.policy_value import PolicyValue
from zermelo.agents.evaluators.protocol import Evaluator, expected_totals
from zermelo.agents.evaluators.registry import evaluator_name, make_evaluator
from zermelo.agents.kernels.program import why_plain
from zermelo.agents.monte_carlo.batches import BatchedMonteCarlo
from zermelo.agents.monte_carlo.compiled.search import CompiledMonteCarlo
from zermelo.agents.monte_carlo.interface import MonteCarlo, MonteCarloConfig, RootSetup
from zermelo.agents.monte_carlo.plain import PlainMonteCarlo
from zermelo.agents.monte_carlo.selection_rules import RULES
from zermelo.envs.capabilities import SupportsEvaluation, offers


def monte_carlo(start: RootSetup, budget: Budget, evaluator: Evaluator | None, *, limits: Limits) -> MonteCarlo:
    """Monte Carlo tree search, for any game: with playouts, or with an evaluator for the leaves.

    A search that is watched is a plain one.
    """
    game = start.game
    variants = compiled_variants(game, evaluator, start.config)
    if variants is not None and CompiledMonteCarlo.program.is_ready(game.rules, budget, *variants):
        return CompiledMonteCarlo(game, evaluator, budget, limits=limits, start=start)
    if isinstance(evaluator, PolicyValue):
        ask = functools.partial(expected_totals, cast("Any", evaluator), game)
        return BatchedMonteCarlo(start, budget, network=evaluator, evaluation=ask)
    own = make_evaluator("game") if offers(game, SupportsEvaluation) else None
    leaf_evaluator, prior = evaluator or own, getattr(evaluator, "prior", None)
    evaluation = None if leaf_evaluator is None else functools.partial(expected_totals, leaf_evaluator, game)
    priors = None if prior is None else functools.partial(prior, game)
    search = PlainMonteCarlo(start, budget, evaluation=evaluation, plays_out=evaluator is None, prior=priors)
    search.why_plain = why_plain(
        game, evaluator, evaluator_name(evaluator), budget, has_kernel=_has_kernel(start.config),
        watched=start.config.on_simulation is not None, cut=False,
    )  # fmt: skip
    return search


def compiled_variants(game: Any, evaluator: Evaluator | None, config: MonteCarloConfig) -> tuple[Any, ...] | None:
    """The variants of the compiled search's kernel; None where there is none for the game and the settings."""
    if config.on_simulation is not None or not _has_kernel(config):
        return None
    if not CompiledMonteCarlo.can_search(game, evaluator):
        return None
    return CompiledMonteCarlo.variants(game, evaluator, config.selection)


def _has_kernel(config: MonteCarloConfig) -> bool:
    return RULES[config.selection].compiled is not None
