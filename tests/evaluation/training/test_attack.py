"""How a policy is beaten: a search that asks it, and the same search alone, with the same seats and seeds."""

import json
import math

import numpy as np
import pytest
from doubles.game_envs import Numbers

from zermelo.agents import PolicyAgent
from zermelo.agents.best_response.exact import best_response_values
from zermelo.envs import UnsupportedGameError
from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation import attack, read_games
from zermelo.evaluation.schedule import Pairings, Schedule
from zermelo.evaluation.tournament.settings import AttackSettings

GAME = "classic/tictactoe-v3"


def first_legal(observation, action_mask):
    return int(np.flatnonzero(action_mask)[0])


def fails(observation, action_mask):
    if observation.sum() > 2:
        raise ValueError("no idea")
    return int(np.flatnonzero(action_mask)[0])


def bets_kings(observation, action_mask):
    return int(observation[2])


def test_every_attacker_has_the_same_seats_and_seeds():
    for seats in (2, 3):
        schedule = Schedule(["policy", "one", "other"], seats=seats, games=5, seed=1, pairings=Pairings.ONE_SEAT)
        games = [schedule[place] for place in range(len(schedule))]
        seated = {name: [(game.seed, game.seats.index(name)) for game in games if name in game.seats]
                  for name in ("one", "other")}  # fmt: skip
        assert seated["one"] == seated["other"]
        assert len(seated["one"]) == 5
        assert all(game.seats.count("policy") == seats - 1 for game in games)


def test_a_policy_that_always_plays_the_same_is_beaten(tmp_path):
    policy = PolicyAgent(first_legal, name="first")
    found = attack(GAME, policy, "mcts(simulations=100)", games=6, out=tmp_path)
    assert (found.asking.mean, found.value, found.exact) == (1, 0, 1)
    assert found.asking.interval[0] < 1 == found.asking.interval[1]
    assert found.gain.mean == pytest.approx(found.asking.mean - found.plain.mean)
    records = read_games(tmp_path)
    assert len(records) == 12
    assert {name for game in records for name in game.agents} == {"first", *found.agents}
    kept = json.loads((tmp_path / "attack.json").read_text())
    assert kept == found.to_dict()
    again = attack(GAME, policy, "mcts(simulations=100)", games=6, out=tmp_path)
    assert again.to_dict() == found.to_dict()


def test_games_that_all_showed_no_gain_leave_some_possible():
    policy = PolicyAgent(first_legal, name="first")
    few, more = (attack(GAME, policy, "mcts(simulations=600)", games=games).gain for games in (4, 12))
    assert few.mean == more.mean == 0  # it is beaten without asking too
    assert few.interval[0] < more.interval[0] < 0 < more.interval[1] < few.interval[1]


class Dealt(Numbers):
    """Numbers from a sum that each reset draws."""

    def start(self, seed, options):
        super().start(seed, options)
        self.sum = int(np.random.default_rng(seed).integers(3))
        self._masks()

    def observe(self, agent):
        return {"observation": np.array([self.sum]), "action_mask": np.array(self.infos[agent]["action_mask"])}


def test_where_games_start_differently_no_one_start_is_the_bound():
    policy = PolicyAgent(first_legal, name="first")
    alike = attack(lambda: Numbers(length=2), "random", "mcts(simulations=10)", games=2)
    assert not any("start differently" in note for note in alike.notes)
    found = attack(lambda: Dealt(length=2), policy, "mcts(simulations=10)", games=2)
    assert found.exact is None
    assert any("games start differently" in note for note in found.notes)


@pytest.mark.thorough
def test_points_of_hidden_cards_agree_with_the_exact_best_response():
    found = attack("zermelo/Kuhn-v0", "random", "ismcts(simulations=60)", games=240)
    low, high = found.asking.interval
    assert found.exact == pytest.approx(sum(best_response_values("random", "zermelo/Kuhn-v0")) / 2)
    assert low < found.exact < high
    assert high - low < 0.6


def test_games_in_which_asking_won_more_are_named():
    """A policy that bets kings alone tells by every bet what it has."""
    policy = PolicyAgent(bets_kings, name="kings")
    found = attack("zermelo/Kuhn-v0", policy, "ismcts(simulations=60)", games=40)
    assert found.won_more
    assert all(one.points > one.without for one in found.won_more)
    assert f"{found.won_more[0].game_id} (" in str(found)
    assert [one.points - one.without for one in found.won_more] == sorted(
        (one.points - one.without for one in found.won_more), reverse=True
    )


def test_more_than_two_seats():
    """The policy has all other seats; what good players get is not known."""
    found = attack("zermelo/Kuhn-v0(players=3)", "random", "ismcts(simulations=20)", games=6)
    assert found.games == 6
    assert found.value is None
    assert found.exact == pytest.approx(0.6875)


def test_a_policy_that_fails_is_named():
    found = attack(GAME, fails, "mcts(simulations=20)", games=2)
    assert math.isnan(found.asking.mean)
    assert any("fails lost 4 games by CRASH" in note for note in found.notes)
    assert "exact best response is not known: the policy failed" in str(found)


def test_refusals(tmp_path):
    with pytest.raises(UnsupportedGameError, match="has one seat, so no policy can be met there"):
        attack("zermelo/Game2048-v0", "random")
    with pytest.raises(InvalidSettingError, match="asks must be a whole number of at least 1, not 0"):
        AttackSettings(asks=0)
    with pytest.raises(InvalidSettingError, match="agent must be one that searches"):
        attack(GAME, "random", "random")
    with pytest.raises(
        InvalidSettingError, match="the policy comes first, then the search, and 'random' does not"
    ):
        attack(GAME, "mcts(simulations=5)", "random")
    with pytest.raises(InvalidSettingError, match="is a folder: name one model in it, or use `zermelo rate`"):
        attack(GAME, tmp_path)
    with pytest.raises(UnsupportedGameError, match="policy cannot play here: "):
        attack(GAME, lambda observation: "nonsense")
