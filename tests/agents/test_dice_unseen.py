"""No environment's dice can be seen in advance: a search says the same whatever its next rolls will be.

Two environments stand at the same position and will roll differently. A search that looked at the state of their
generators would now and then prefer another action, or value one otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from doubles.game_envs import Dice

from zermelo.agents import ExpectiminimaxAgent, SearchResult
from zermelo.envs import make

pytestmark = pytest.mark.thorough

PAIRS = range(8)


def own(seed: int) -> Any:
    env = make("zermelo/Pig-v0", target=12)
    env.reset(seed=seed)
    return env


def shimmys(seed: int) -> Any:
    shimmy = pytest.importorskip("shimmy")
    pytest.importorskip("pyspiel")
    env = shimmy.OpenSpielCompatibilityV0(game_name="pig", config={"winscore": 12, "diceoutcomes": 3})
    env.reset(seed=seed)
    return env


def users(source: str) -> Callable[[int], Any]:
    def made(seed: int) -> Any:
        env = Dice(source, rolls=3)
        env.reset(seed=seed)
        return env

    return made


def told(result: SearchResult) -> tuple[Any, ...]:
    return result.action, result.value, dict(result.action_values), result.nodes


@pytest.mark.parametrize("backend", ["auto", "clone"])
@pytest.mark.parametrize(
    "at",
    [
        pytest.param(own, marks=pytest.mark.slow),
        shimmys,
        users("np_random"),
        users("python"),
        users("random"),
        users("numpy.random"),
    ],
    ids=["ours", "shimmy's", "np_random", "random.Random", "the module random", "numpy.random"],
)
def test_what_will_be_rolled_changes_no_search(at: Callable[[int], Any], backend: str) -> None:
    found = []
    for seed in PAIRS:
        env = at(seed)
        agent = ExpectiminimaxAgent(depth=2, samples=4, backend=backend, evaluator="rewards", exact=True)
        found.append(told(agent.search(env)))
        env.close()
    assert found == [found[0]] * len(found)


def test_ours_is_searched_compiled() -> None:
    """So that what is said above of ours is said of the compiled search."""
    assert ExpectiminimaxAgent(depth=2, evaluator="rewards").search(own(0)).compiled


@pytest.mark.parametrize("at", [own, shimmys, users("np_random"), users("python")], ids=lambda at: at.__name__)
def test_a_search_takes_no_roll_from_the_environment(at: Callable[[int], Any]) -> None:
    """Played on with the same actions, an environment that was searched rolls what another does that was not."""

    def played(*, searched: bool) -> list[Any]:
        env = at(5)
        seen = []
        for _ in range(3):
            if not env.agents or env.terminations[env.agent_selection]:
                break
            if searched:
                ExpectiminimaxAgent(depth=2, samples=2, evaluator="rewards").search(env)
            env.step(0)
            seen.append(repr([env.observe(agent) for agent in env.agents]))
        return seen

    assert played(searched=True) == played(searched=False)


@pytest.mark.parametrize(("given", "name"), [("rewards", "rewards"), ("playout(games=2)", "playout(games=2)")])
def test_results_name_the_evaluator_where_chance_is_sampled(given: str, name: str) -> None:
    result = ExpectiminimaxAgent(depth=2, samples=2, evaluator=given).search(users("np_random")(0))
    assert result.evaluator == name
