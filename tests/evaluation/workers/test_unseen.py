"""What an agent has not seen does not travel to its process: other cards, dice and choices are sent instead."""

from __future__ import annotations

import json
import os
import pickle
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pettingzoo
import pytest
from doubles.at_once import Duel
from doubles.peeking import Peeks
from doubles.toy_envs import ToyEnv
from pettingzoo.utils.conversions import parallel_to_aec

from zermelo.envs import clone_env, make
from zermelo.envs.adapters.aec import deal_unseen
from zermelo.envs.clone.state_key import state_key
from zermelo.envs.errors import EnvFailedError, UnknownTraitWarning
from zermelo.envs.live.wrappers import innermost
from zermelo.evaluation import round_robin
from zermelo.evaluation.workers.settings import AgentLimits, Isolate
from zermelo.evaluation.workers.shipping import pack_env


def travelled(env: Any, seed: int, *, for_all: bool = False) -> Any:
    return pickle.loads(pack_env(env, np.random.default_rng(seed), for_all=for_all))


def classic(name: str, plies: int = 1, **settings: Any) -> Any:
    env = pettingzoo.make("aec", f"classic/{name}", **settings)
    env.reset(seed=4)
    return played(env, plies)


def own(name: str, plies: int = 1, **settings: Any) -> Any:
    env = make(f"zermelo/{name}-v0", **settings)
    env.reset(seed=4)
    return played(env, plies)


def openspiel(name: str, plies: int = 1) -> Any:
    pytest.importorskip("shimmy.openspiel_compatibility")
    env = make(f"openspiel/{name}")
    env.reset(seed=4)
    return played(env, plies)


def parallel(plies: int = 1) -> Any:
    env = parallel_to_aec(Duel([[0, -1, 3], [1, 0, -2], [-3, 2, 0]]))
    env.reset(seed=1)
    return played(env, plies)


def played(env: Any, plies: int) -> Any:
    for _ in range(plies):
        seen, info = env.observe(env.agent_selection), env.infos[env.agent_selection]
        mask = info.get("action_mask", seen.get("action_mask") if isinstance(seen, dict) else None)
        env.step(1 if mask is None or mask[1] else int(np.flatnonzero(mask)[0]))
    return env


CASES: dict[str, Callable[[], Any]] = {
    "leduc_holdem": partial(classic, "leduc_holdem-v4"),
    "texas_holdem": partial(classic, "texas_holdem-v4"),
    "texas_holdem_no_limit": partial(classic, "texas_holdem_no_limit-v6"),
    "hanabi": partial(classic, "hanabi-v5", 2, colors=2, ranks=2, players=2, hand_size=2),
    "rps": partial(classic, "rps-v2"),
    "Kuhn": partial(own, "Kuhn", players=3),
    "Leduc": partial(own, "Leduc"),
    "LiarsDice": partial(own, "LiarsDice"),
    "Goofspiel": partial(own, "Goofspiel", 3, cards=5, hidden=True),
    "leduc_poker by OpenSpiel": partial(openspiel, "leduc_poker"),
    "goofspiel by OpenSpiel": partial(openspiel, "goofspiel(num_cards=4,points_order='descending')"),
    "parallel": parallel,
}


def whole(env: Any) -> Any:
    """A value of everything in an environment but its random generators."""
    raw = innermost(env)
    inside = getattr(raw, "hanabi_env", raw)
    if not hasattr(inside, "game_state"):
        return state_key(raw)
    shown = repr([(agent, seen.tolist()) for agent, seen in inside.observations.items()])
    return state_key(inside.game_state), repr(inside.simultaneous_actions), shown


@pytest.mark.parametrize("name", CASES)
def test_nothing_hidden_travels(name: str) -> None:
    """Two positions that the agent to move cannot tell apart are the same once they have travelled."""
    env = CASES[name]()
    agent, own_view = env.agent_selection, str(env.observe(env.agent_selection))
    others = []
    for seed in range(4):
        others.append(clone_env(env))
        assert deal_unseen(others[-1], np.random.default_rng(seed))
    keys = {whole(one) for one in (env, *others)}
    assert len(keys) > 1, "something is hidden"
    arrived = [travelled(one, seed=9) for one in (env, *others)]
    assert len({whole(one) for one in arrived}) == 1
    assert {str(one.observe(agent)) for one in arrived} == {own_view}
    assert {one.agent_selection for one in arrived} == {agent}
    different = {whole(travelled(env, seed)) for seed in range(8)}
    assert len(different) > 1, "no deal is the only one"
    arrived[0].step(played(travelled(env, seed=9), 0).action_space(agent).sample(_mask(env)))


def _mask(env: Any) -> Any:
    agent = env.agent_selection
    seen = env.observe(agent)
    mask = env.infos[agent].get("action_mask", seen.get("action_mask") if isinstance(seen, dict) else None)
    return None if mask is None else np.asarray(mask, np.int8)


def test_for_a_rehearsal_everybodys_cards_are_dealt_again() -> None:
    env = CASES["texas_holdem"]()
    hands = [[card.get_index() for card in player.hand] for player in innermost(env).env.game.players]
    arrived = innermost(travelled(env, 3, for_all=True))
    again = [[card.get_index() for card in player.hand] for player in arrived.env.game.players]
    assert all(one != other for one, other in zip(hands, again, strict=True))
    assert hands == [[card.get_index() for card in player.hand] for player in innermost(env).env.game.players]


class Secretive(ToyEnv):
    """Says that it hides something, and not what."""

    metadata = {"name": "secretive_v0", "render_modes": []}  # noqa: RUF012  # PettingZoo's own form
    zermelo_traits = {"information": "hidden"}  # noqa: RUF012  # as above


class Careless(Secretive):
    """Fails to deal again."""

    metadata = {"name": "careless_v0", "render_modes": []}  # noqa: RUF012  # as above

    def information_state_key(self, agent: Any) -> Any:
        return agent

    def resample(self, agent: Any, generator: Any) -> None:
        raise KeyError("no deck")


def test_what_nobody_can_deal_again_is_said_once() -> None:
    env = Secretive()
    env.reset()
    with pytest.warns(UnknownTraitWarning, match=r"secretive_v0 hides something .* call register_information"):
        travelled(env, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        travelled(env, 1)
    careless = Careless()
    careless.reset()
    with pytest.raises(EnvFailedError, match="careless_v0 raised KeyError as it dealt again what the agent has"):
        travelled(careless, 1)


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix", reason="agents' own processes need fork")
def test_an_agent_in_a_process_of_its_own_sees_its_own_card_alone(tmp_path: Path) -> None:
    seen = {}
    for isolate in (Isolate.NONE, Isolate.ALL):
        path = tmp_path / isolate.value
        agents = {"peeks": partial(Peeks, path), "random": "random"}
        round_robin("classic/leduc_holdem-v4", agents, games=8, seed=3, isolation=AgentLimits(isolate=isolate))
        seen[isolate] = [tuple(json.loads(line)) for line in path.read_text().splitlines()]
    assert [mine for mine, _ in seen[Isolate.ALL]] == [mine for mine, _ in seen[Isolate.NONE]]
    wrong = [a != b for (_, a), (_, b) in zip(*seen.values(), strict=True)]
    assert sum(wrong) > len(wrong) / 3
