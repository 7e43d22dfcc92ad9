"""Policies are rated on a ladder that stays as it is, and training goes on undisturbed."""

import itertools
import json
import math
import random
import re

import numpy as np
import pytest

from zermelo.agents import AlphaBetaAgent, GreedyAgent, RandomAgent, TorchAgent
from zermelo.agents.level import Levels, Rung
from zermelo.agents.training import OpponentEnv
from zermelo.envs import UnsupportedGameError, ZermeloError
from zermelo.envs.errors import InvalidSettingError, UnknownNameError
from zermelo.envs.registration.make import make
from zermelo.evaluation import evaluate_policy, fit_ratings
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.ladders.ladder import POLICY, RatedAnchors, covariance_of, default_anchors
from zermelo.evaluation.results import Result, ResultCount, Results

GAME = "classic/tictactoe-v3"
SMALL = ("random", "greedy")


def random_policy(observation, action_mask):
    return int(np.random.choice(np.flatnonzero(action_mask)))  # noqa: NPY002 (as people write them)


def first_legal(observation, action_mask):
    return int(np.flatnonzero(action_mask)[0])


@pytest.mark.thorough
def test_a_random_policy_has_the_rating_of_random():
    rating = evaluate_policy(random_policy, GAME, ladder=SMALL, games=60)
    assert rating.lower < 0 < rating.upper, rating
    assert rating.lower < rating.rating < rating.upper
    assert rating.elo["random"] == 0 < rating.elo["greedy"]
    assert [row.games for row in rating.against.values()] == [60, 60]
    assert [seat.games for seat in rating.total.by_seat] == [60, 60]


@pytest.mark.thorough
def test_better_agents_have_higher_ratings():
    weak, middle, perfect = (
        evaluate_policy(policy, GAME, ladder=SMALL, games=40)
        for policy in (random_policy, GreedyAgent(), AlphaBetaAgent())
    )
    assert weak.rating < middle.rating < perfect.rating
    assert perfect.lower > perfect.elo["greedy"]  # above greedy, beyond doubt
    assert middle.lower < middle.elo["greedy"] < middle.upper


def simulated(ratings, games, dice):
    """Games of each pair of agents with these ratings, half of them from either seat, without draws."""
    groups = {}
    for one, other in itertools.permutations(ratings, 2):
        wins = dice.binomial(games // 2, 1 / (1 + 10 ** ((ratings[other] - ratings[one]) / 400)))
        for ranks, count in (((0, 1), int(wins)), ((1, 0), games // 2 - int(wins))):
            if count:
                groups[Result((one, other), ranks)] = ResultCount(count, (0, 0), (0, 0), count, len(groups))
    return Results(groups)


@pytest.mark.thorough
def test_intervals_hold_the_errors_of_the_anchors_too():
    """The policy is rated by far more games than anchors and rungs, as in README's call with ``games=300``."""
    dice, truth, policy = np.random.default_rng(7), {"random": 0.0, "b": 200.0, "c": 400.0}, 300.0
    held, repeats = {"anchors": 0, "covariance": 0, "no covariance": 0}, 100
    for _ in range(repeats):
        own = simulated(truth, 30, dice)
        met = simulated({**truth, POLICY: policy}, 600, dice)
        met = Results({result: group for result, group in met.groups.items() if POLICY in result.agents})
        table = fit_ratings(own.counts(), anchor="random")
        rungs = tuple(
            Rung(name, table[name].smoothed_elo, table[name].lower, table[name].upper, 1) for name in truth
        )
        elo = {rung.agent: rung.rating for rung in rungs}
        triangle = [row[: place + 1] for place, row in enumerate(table.covariance([*truth]).tolist())]
        ladders = {
            "anchors": RatedAnchors((), elo, (), "", own),
            "covariance": RatedAnchors(
                (), elo, (), "", covariance=covariance_of(Levels("", rungs, about={"covariance": triangle}))
            ),
            "no covariance": RatedAnchors((), elo, (), "", covariance=covariance_of(Levels("", rungs))),
        }
        for name, ladder in ladders.items():
            found = ladder.rating_of(met)
            held[name] += found.lower <= policy <= found.upper
    assert all(count >= 0.93 * repeats - 3 * math.sqrt(0.95 * 0.05 * repeats) for count in held.values()), held


def test_a_covariance_that_does_not_fit_the_rungs_is_refused():
    rungs = tuple(Rung(name, rating, rating, rating, 1) for name, rating in (("random", 0.0), ("b", 100.0)))
    assert covariance_of(Levels("", rungs, about={"covariance": [[0], [0, 4]]})).tolist() == [[0, 0], [0, 4]]
    for rows in ([[0]], [[0], ["a", 4]], 3, [[0], [0, math.nan]]):
        with pytest.raises(StoreError, match="has 2 rungs, and no covariance of as many"):
            covariance_of(Levels("it", rungs, about={"covariance": rows}))


@pytest.mark.thorough
def test_games_are_played_until_the_interval_is_as_narrow_as_asked():
    said = []
    rating = evaluate_policy(random_policy, GAME, ladder=SMALL, interval=150, on_progress=said.append)
    assert rating.upper - rating.lower <= 150
    assert not any("needs about" in note for note in rating.notes)
    assert re.match(r"after 40 games the interval is \d+ Elo wide: one of 150 needs about [\d,]+ more", said[0])
    short = evaluate_policy(random_policy, GAME, ladder=SMALL, interval=20, games=30)
    assert [row.games for row in short.against.values()] == [30, 30]
    assert re.match(
        r"After 60 games the interval is \d+ Elo wide: one of 20 needs about [\d,]+ more\.", short.notes[-1]
    )


@pytest.mark.thorough
def test_the_same_policy_and_seed_give_the_same_answer_and_draw_nothing():
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002 (the global generator is what is tested)
    before = random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002 (likewise)
    one, two = (evaluate_policy(random_policy, GAME, ladder=SMALL) for _ in range(2))
    assert one.to_dict() == two.to_dict()
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # noqa: NPY002 (likewise)
    assert evaluate_policy(random_policy, GAME, ladder=SMALL, seed=1).to_dict() != one.to_dict()


@pytest.mark.thorough
def test_deterministic_agents_do_not_repeat_one_game():
    rating = evaluate_policy(first_legal, GAME, ladder=["alphabeta(depth=1, ties=first)"], games=20)
    assert not any("repeated" in note for note in rating.notes)


@pytest.mark.thorough
def test_a_policy_sees_no_environment_and_its_faults_are_counted():
    def wrong(*given):
        assert len(given) == 2
        observation, action_mask = given
        assert isinstance(observation, np.ndarray)
        return int(np.flatnonzero(~action_mask)[0]) if not action_mask.all() else 0

    rating = evaluate_policy(lambda observation, action_mask: wrong(observation, action_mask), GAME, ladder=SMALL)
    assert sum(rating.total.failures.values()) == 40
    assert [str(kind) for kind in rating.total.failures] == ["ILLEGAL_ACTION"]
    assert rating.total.score == 0
    assert rating.lower == -math.inf
    assert math.isfinite(rating.rating)
    assert rating.rating < rating.upper < 0
    assert "faults: 40 ILLEGAL_ACTION" in str(rating)
    assert "Note: The policy failed in 40 of 40 games: this rating is that of its faults" in str(rating)


@pytest.mark.thorough
def test_plain_values_and_a_table():
    rating = evaluate_policy(AlphaBetaAgent(), GAME, ladder=["random"], games=4)
    told = json.loads(json.dumps(rating.to_dict(), allow_nan=False))
    assert (told["rungs"][0]["agent"], told["games"]) == ("random", 4)
    assert (told["upper"] is None) == math.isinf(rating.upper)
    assert str(rating).startswith(f"alphabeta in {GAME}: ")
    assert "player_1" in str(rating)


def test_hidden_information_leaves_random():
    pytest.importorskip("rlcard")
    rating = evaluate_policy(random_policy, "classic/leduc_holdem-v4", games=10)
    assert list(rating.against) == ["random"]
    assert rating.lower < 0 < rating.upper


@pytest.mark.parametrize(
    ("env", "kinds"),
    [
        (GAME, ["random", "greedy", "alphabeta", "alphabeta"]),
        ("zermelo/Pig-v0", ["random", "greedy", "expectiminimax"]),
        ("zermelo/Pig-v0(players=3)", ["random", "greedy", "maxn"]),
    ],
)
def test_the_default_ladder_fits_the_game(env, kinds):
    live = make(env)
    live.reset(seed=0)
    assert [spec.partition("(")[0] for spec in default_anchors(live)] == kinds


@pytest.mark.thorough
def test_three_seats():
    rating = evaluate_policy(random_policy, "zermelo/Pig-v0(players=3)", ladder=["random"], games=30)
    assert [seat.games for seat in rating.total.by_seat] == [10, 10, 10]
    assert rating.lower < 0 < rating.upper


@pytest.mark.thorough
def test_a_live_environment_is_left_alone():
    env = make(GAME)
    env.reset(seed=0)
    env.step(4)
    rating = evaluate_policy(random_policy, env, ladder=["random"], games=4)
    assert rating.total.games == 4
    assert env.agent_selection == "player_2"
    assert not env.observe("player_2")["action_mask"][4]


@pytest.mark.thorough
def test_torch_modules_play_and_return_to_their_mode():
    torch = pytest.importorskip("torch")

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.dropout = torch.nn.Dropout()

        def forward(self, observation, action_mask):
            assert not self.dropout.training
            return self.dropout(action_mask.float())

    net = Net().train()
    drawn = torch.random.get_rng_state()
    rating = evaluate_policy(net, GAME, ladder=["random"], games=4)
    assert net.training
    assert net.dropout.training
    assert torch.equal(torch.random.get_rng_state(), drawn)
    assert rating.total.games == 4
    assert not rating.total.failures


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"ladder": ["randm"]}, UnknownNameError, "randm"),
        ({"ladder": []}, InvalidSettingError, "the ladder is empty"),
        ({"ladder": {"policy": "random"}}, InvalidSettingError, "no baseline may be called 'policy'"),
        ({"games": 0}, InvalidSettingError, "games must be"),
        ({"seed": -1}, InvalidSettingError, "seed must be"),
        ({"policy": 3}, InvalidSettingError, "policy must be"),
        ({"env": "FrozenLake-v1"}, UnsupportedGameError, "one seat"),
        ({"env": "zermelo/Pig-v0", "ladder": ["alphabeta(depth=1)"]}, UnsupportedGameError, "cannot play here"),
    ],
)
def test_mistakes_are_told(settings, error, message):
    given = {"policy": first_legal, "env": GAME, "ladder": SMALL} | settings
    with pytest.raises(error, match=message):
        evaluate_policy(given.pop("policy"), given.pop("env"), **given)


@pytest.mark.thorough
def test_a_model_of_stable_baselines3_plays_as_it_is():
    pytest.importorskip("stable_baselines3")
    contrib = pytest.importorskip("sb3_contrib")
    model = contrib.MaskablePPO("MlpPolicy", OpponentEnv(GAME, observation="array"), seed=0, device="cpu")
    model.policy.train()
    one = evaluate_policy(model, GAME, ladder=["random"], games=6)
    assert not one.total.failures
    assert one.total.games == 6
    assert model.policy.training
    same = evaluate_policy(model.policy, GAME, ladder=["random"], games=6).to_dict()
    assert same | {"policy": "MaskablePPO"} == one.to_dict()


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_a_model_without_masks_plays_its_best_legal_action(tmp_path):
    baselines = pytest.importorskip("stable_baselines3")
    for algorithm in (baselines.PPO, baselines.DQN):
        settings = {"buffer_size": 10} if algorithm is baselines.DQN else {}
        model = algorithm("MlpPolicy", OpponentEnv(GAME, observation="array"), seed=0, device="cpu", **settings)
        assert not evaluate_policy(model, GAME, ladder=["random"], games=4).total.failures
        model.save(tmp_path / "model.zip")
        by_file = [
            tmp_path / "model.zip",
            f"sb3(path={str(tmp_path / 'model.zip')!r})",
            str(tmp_path / "model.zip"),
        ]
        rated = [evaluate_policy(policy, GAME, ladder="random", games=4).to_dict() for policy in by_file]
        assert [one.pop("policy") for one in rated] == [*map(str, by_file)]
        assert rated[0] == rated[1] == rated[2]
        assert rated[0]["rungs"][0]["agent"] == "random"


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_a_file_that_is_no_network_is_told_so(tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "net.pt").write_bytes(b"PK\x03\x04 nonsense")
    with pytest.raises(InvalidSettingError, match="it is damaged, or was not saved by PyTorch"):
        TorchAgent(path=str(tmp_path / "net.pt"))


@pytest.mark.parametrize(
    ("policy", "ladder", "said"),
    [
        ("random", "randm", "the ladder 'randm' is neither an agent nor a file: did you mean 'random'?"),
        ("random", "alphabet(depth=1)", "is neither an agent nor a file: did you mean 'alphabeta'?"),
        ("random", "alphabeta(detph=1)", "alphabeta has no setting 'detph': did you mean 'depth'?"),
        ("random", "missing.json", "there is no ladder 'missing.json'"),
        ("random", 3, "ladder must be a file, an agent or a list of agents, not 3"),
        ("missing.zip", "random", "there is no file 'missing.zip'"),
        ("missing.onnx(outputs=logits)", "random", "there is no file 'missing.onnx'"),
        ("missing.pt", "random", "there is no file 'missing.pt'"),
        ("randm", "random", "no agent is called 'randm': did you mean 'random'?"),
    ],
)
def test_text_means_what_it_means_on_the_command_line(policy, ladder, said):
    with pytest.raises(ZermeloError) as caught:
        evaluate_policy(policy, GAME, ladder=ladder)
    assert said in str(caught.value)


def test_one_anchor_is_a_ladder():
    several = evaluate_policy("greedy", GAME, ladder=["random"], games=4)
    for one in ("random", RandomAgent(), RandomAgent):
        assert evaluate_policy("greedy", GAME, ladder=one, games=4).to_dict() == several.to_dict()
