"""Linear evaluations fitted to self-play: features, returns, regressions, files, and what the command says."""

from __future__ import annotations

import errno
import functools
import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from doubles.stacks import StackingEnv
from typer.testing import CliRunner

from zermelo.agents import LinearEvaluator, make_agent
from zermelo.agents.base.playouts import random_game
from zermelo.agents.baselines import GreedyAgent
from zermelo.agents.evaluators.fitted_linear import Features, FittedLinear
from zermelo.agents.evaluators.registry import load_evaluation
from zermelo.agents.training.linear import _with_returns, loss_of, regress, tune
from zermelo.agents.training.networks.self_play import SelfPlayGames, searching
from zermelo.agents.tree_search.alpha_beta.agents import AlphaBetaAgent
from zermelo.envs import UnsupportedGameError, ZermeloError
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import MNK, Breakthrough, Kalah, Pig
from zermelo.envs.rules import RulesGame
from zermelo.envs.rules.env import RulesEnv
from zermelo.evaluation.cli.app import app

TICTACTOE = RulesGame(MNK(3, 3, 3))
PAWNS = RulesGame(Breakthrough(rows=4, columns=3))
OPEN = (-np.inf, np.inf)
SHARES = (0.0, 1.0)


def some_states(game: Any, seed: int = 1, games: int = 4) -> list[Any]:
    """Of games at random."""
    generator = np.random.default_rng(seed)
    return [state for _ in range(games) for state in random_game(game, game.initial_state(), generator, 999)]


def pawns(game: Any, state: Any) -> float:
    return float((bin(state.mover).count("1") - bin(state.other).count("1")) * (1 - 2 * state.seat))


def lines(game: Any, state: Any) -> dict[str, float]:
    """How many lines each player has to herself, by the stones on them, in tic-tac-toe."""
    stones = {}
    for turn in (0, 1):
        board = TICTACTOE.observation(state, turn)
        stones[turn] = {cell for cell in range(9) if board[cell // 3, cell % 3, 0]}
    found = dict.fromkeys(("one", "two"), 0.0)
    for line in ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)):
        counts = [len(stones[turn] & {*line}) for turn in (0, 1)]
        for seat, sign in ((0, 1), (1, -1)):
            if counts[1 - seat] == 0 and counts[seat]:
                found["one" if counts[seat] == 1 else "two"] += sign
    return {**found, "turn": 1.0 - 2 * TICTACTOE.to_move(state)}


NAMED = {"pawns": pawns, "ply": lambda game, state: float(bin(state.mover | state.other).count("1"))}
WRITTEN = LinearEvaluator(features=NAMED, weights={"ply": 0.0, "pawns": 3.0}, scale=6.0)
NUMBER = 3
WRONG = {"nothing": lambda game, state: None}


def test_an_observations_numbers_are_features_of_the_player_to_move() -> None:
    features = Features("observation")
    for state in some_states(TICTACTOE):
        mover = TICTACTOE.to_move(state)
        seat, row = features.row(TICTACTOE, state)
        assert seat == mover
        seen = [*TICTACTOE.observation(state, mover).ravel(), 1.0]
        assert row.reshape(2, -1)[mover].tolist() == seen
        assert not row.reshape(2, -1)[1 - mover].any()


def test_features_are_what_was_written_and_a_constant() -> None:
    state = some_states(PAWNS)[5]
    mine, ply = (NAMED[name](PAWNS, state) for name in ("pawns", "ply"))
    assert Features(f"{__name__}:NAMED").row(PAWNS, state)[1].tolist() == [mine, ply, 1.0]
    written = Features(f"{__name__}:WRITTEN")
    assert written.row(PAWNS, state)[1].tolist() == [ply, mine, 1.0], "in the order of the weights"
    assert written.weights is not None
    assert written.weights.tolist() == [0.0, 0.5]
    start = TICTACTOE.initial_state()
    assert Features(f"{__name__}:lines").row(TICTACTOE, start) == (0, pytest.approx([0, 0, 1, 1]))
    assert Features(f"{__name__}:pawns").row(PAWNS, state)[1].tolist() == [mine, 1.0], "one number will do"


@pytest.mark.parametrize("name", ["NUMBER", "Kalah", "absent"])
def test_features_that_are_none_are_refused(name: str) -> None:
    with pytest.raises(ZermeloError, match=name):
        Features(f"{__name__}:{name}")


def test_features_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(InvalidSettingError, match="must be finite numbers"):
        Features(f"{__name__}:WRONG").row(PAWNS, PAWNS.initial_state())


def test_an_evaluation_is_the_weighted_sum_between_the_bounds() -> None:
    evaluator = FittedLinear(Features(f"{__name__}:NAMED"), np.array([0.5, 0.0, 0.25]))
    for state in some_states(PAWNS):
        value = np.tanh((0.5 * pawns(PAWNS, state) + 0.25) / 2)  # 2 / (1 + exp(-x)) - 1
        assert evaluator(PAWNS, state) == pytest.approx((value, -value), abs=1e-4)
    sure = FittedLinear(evaluator.features, np.array([0.0, 0.0, 1e9]))
    assert sure(PAWNS, PAWNS.initial_state())[0] < 1
    with pytest.raises(UnsupportedGameError, match="it was fitted to another game"):
        FittedLinear(Features("observation"), np.ones(4))(PAWNS, PAWNS.initial_state())
    three = RulesGame(MNK(3, 3, 3, players=3))
    with pytest.raises(UnsupportedGameError, match="for games of one or two players"):
        FittedLinear(Features("observation"), np.ones(4))(three, three.initial_state())


def test_a_regression_finds_the_weights_that_made_the_data() -> None:
    generator = np.random.default_rng(3)
    rows, truth, none = generator.normal(size=(4000, 3)), np.array([1.0, -2.0, 0.5]), np.zeros(3)
    chances = 1 / (1 + np.exp(-rows @ truth))
    assert regress(rows, chances, none, SHARES, 1e-6) == pytest.approx(truth, abs=1e-3)
    assert regress(rows, 4 * chances - 1, none, (-1, 3), 1e-6) == pytest.approx(truth, abs=1e-3)
    wins = (generator.random(4000) < chances).astype(float)
    found = regress(rows, wins, none, SHARES, 1.0)
    assert found == pytest.approx(truth, abs=0.25)
    assert loss_of(found, rows, wins, SHARES) < 0.75 * loss_of(none, rows, wins, SHARES)
    assert regress(rows, rows @ truth, none, OPEN, 1e-9) == pytest.approx(truth, abs=1e-4)
    assert regress(rows, wins, truth, SHARES, 1e9) == pytest.approx(truth, abs=1e-4)


@pytest.mark.parametrize("outcome_share", [0.0, 0.6, 1.0])
def test_returns_mix_the_outcome_with_what_the_player_expected(outcome_share: float) -> None:
    start, features = TICTACTOE.initial_state(), Features("observation")
    size = len(features.row(TICTACTOE, start)[1])
    evaluator = FittedLinear(features, np.random.default_rng(1).normal(size=size))
    player = searching(TICTACTOE, GreedyAgent(evaluator=evaluator, seed=1), is_learned=True)
    loop = SelfPlayGames(TICTACTOE, [start], [player], 0, 99, np.random.default_rng(1))
    played = _with_returns(TICTACTOE, features, *loop.play(), outcome_share)
    state, expected = start, []
    while not TICTACTOE.is_terminal(state):
        sign = 1 if TICTACTOE.to_move(state) == 0 else -1
        values = {a: sign * _looks(evaluator, TICTACTOE.result(state, a)) for a in TICTACTOE.legal_actions(state)}
        best = max(values, key=lambda action: values[action])
        expected.append((sign, values[best]))
        state = TICTACTOE.result(state, best)
    final = TICTACTOE.utility(state)[0]
    returns = [outcome_share * sign * final + (1 - outcome_share) * value for sign, value in expected]
    assert played.returns == pytest.approx(returns)


def _looks(evaluator: FittedLinear, state: Any) -> float:
    """Expected utility of the first player."""
    if TICTACTOE.is_terminal(state):
        return float(TICTACTOE.utility(state)[0])
    return evaluator(TICTACTOE, state)[0]


@functools.cache
def perfect(state: Any) -> float:
    """Value of tic-tac-toe for the first player."""
    if TICTACTOE.is_terminal(state):
        return float(TICTACTOE.utility(state)[0])
    best = max if TICTACTOE.to_move(state) == 0 else min
    return best(perfect(TICTACTOE.result(state, action)) for action in TICTACTOE.legal_actions(state))


@pytest.mark.thorough
def test_tuning_learns_who_wins_and_the_file_plays(tmp_path: Path) -> None:
    path, source = str(tmp_path / "mnk.json"), f"{__name__}:lines"
    tuned = tune("zermelo/MNK-v0", out=path, features=source, games=300, rounds=2, seed=6)
    assert [one.games for one in tuned.rounds] == [300, 300]
    assert tuned.rounds[-1].loss < tuned.rounds[-1].average
    one, two, turn, _ = tuned.evaluator.weights
    assert two > one > 0, "two stones on a line of one's own are better than one"
    assert turn > 0, "and so is to be to move"
    loaded = load_evaluation(path, source)
    assert loaded == tuned.evaluator
    states = some_states(TICTACTOE, seed=9, games=30)
    truth = np.array([perfect(state) for state in states])
    said = np.array([loaded(TICTACTOE, state)[0] for state in states])
    assert np.corrcoef(truth, said)[0, 1] > 0.6
    agent = make_agent(f"alphabeta(depth=2, evaluator={loaded.spec()}, seed=1)")
    state = states[3]
    one, two = (made.search_state(TICTACTOE, state) for made in (agent, make_agent(agent.name)))
    assert (one.action, one.value, one.nodes) == (two.action, two.value, two.nodes)


@pytest.mark.thorough
def test_written_weights_are_where_a_fit_begins(tmp_path: Path) -> None:
    out, source = str(tmp_path / "pawns.json"), f"{__name__}:WRITTEN"
    make = functools.partial(RulesEnv, PAWNS.rules)
    firmly = tune(make, out=out, features=source, games=10, rounds=2, ridge=1e9).evaluator.weights
    assert firmly == pytest.approx([0.0, 1.0, 0.0], abs=1e-4), "as steep in the middle as x / (1 + |x|)"
    loosely = tune(make, out=out, features=source, games=10, rounds=1).evaluator.weights
    assert loosely != pytest.approx(firmly, abs=1e-3)


@pytest.mark.thorough
def test_the_same_seed_finds_the_same_weights(tmp_path: Path) -> None:
    out = str(tmp_path / "same.json")
    one, two, other = (
        tune("zermelo/MNK-v0", out=out, games=10, rounds=2, seed=seed).evaluator.weights for seed in (4, 4, 5)
    )
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


@pytest.mark.thorough
def test_an_environment_without_rules_can_be_tuned(tmp_path: Path) -> None:
    out = str(tmp_path / "stacks.json")
    for env in (StackingEnv, StackingEnv(), lambda: StackingEnv()):
        tuned = tune(env, out=out, games=20, rounds=2, seed=1)
        assert tuned.rounds[0].games == 20
        assert load_evaluation(out) == tuned.evaluator


def test_games_of_dice_and_rewards_on_the_way_can_be_tuned(tmp_path: Path) -> None:
    for name, rules in (("pig", Pig(target=20)), ("kalah", Kalah(houses=2, seeds=2))):
        out = str(tmp_path / f"{name}.json")
        tuned = tune(functools.partial(RulesEnv, rules), out=out, games=10, rounds=2)
        assert np.isfinite(tuned.evaluator.weights).all()
        assert tuned.rounds[1].positions > 0


@pytest.mark.thorough
def test_the_command_says_what_it_found_and_what_is_wrong(tmp_path: Path) -> None:
    path = str(tmp_path / "small.json")
    few = ["--games", "10", "--rounds", "1", "--match", "4"]
    run = CliRunner().invoke(app, ["tune", "zermelo/MNK-v0", "--model", "linear", "-o", path, *few])
    assert run.exit_code == 0, run.output
    assert "round" in run.output
    assert "weights of observation" in run.output
    assert "against alphabeta(depth=2)" in run.output
    for wrong, message in (
        (["zermelo/MNK-v0", "-o", "x.txt"], "must end in .json"),
        (["zermelo/MNK-v0", "-o", str(tmp_path / "absent" / "x.json")], "in a folder that is there"),
        (["zermelo/MNK-v0", "--features", "absent:NAME", "-o", path], "absent"),
        (["zermelo/DotsAndBoxes-v0(players=3)", "-o", path], "needs one or two players"),
    ):
        refused = CliRunner().invoke(app, ["tune", *wrong])
        assert refused.exit_code == 2
        assert message in refused.output


def test_a_full_disk_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InvalidSettingError, match=r"cannot write .*full\.json: No space left on device"):
        tune("zermelo/MNK-v0", out=str(tmp_path / "full.json"), games=10, rounds=1)


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"form": "zermelo evaluation", "version": 1}', "no json"])
def test_a_damaged_or_older_file_is_refused_in_a_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "damaged.json"
    path.write_text(text)
    with pytest.raises(InvalidSettingError, match=r"damaged\.json' is no evaluation"):
        make_agent(f"alphabeta(depth=1, evaluator='{path}')")
    with pytest.raises(InvalidSettingError, match="there is no evaluation"):
        load_evaluation(str(tmp_path / "absent.json"))


@pytest.mark.thorough
def test_searches_play_themselves_by_the_written_evaluation() -> None:
    start, agent, generator = PAWNS.initial_state(), AlphaBetaAgent(depth=2, seed=1), np.random.default_rng(1)
    player = searching(PAWNS, agent, is_learned=False)
    loop = SelfPlayGames(PAWNS, [start], [player], 0, 99, generator)
    recorded, final = loop.play()
    moves = [state for state, _ in recorded]
    assert moves[0] == start
    best = AlphaBetaAgent(depth=2, exact=True)
    for state, following in itertools.pairwise(moves):
        result = best.search_state(PAWNS, state)
        values = {PAWNS.result(state, action): value for action, value in result.action_values.items()}
        assert values[following] == result.value
    assert all(choice.value is None for _, choice in recorded)
    assert final in {PAWNS.utility(PAWNS.result(moves[-1], action)) for action in PAWNS.legal_actions(moves[-1])}
    assert [state for state, _ in loop.play()[0]] != moves, "of equal moves one is drawn"
    loop = SelfPlayGames(PAWNS, [start], [player], 3, 2, generator)
    several = [recorded for recorded, _ in (loop.play() for _ in range(20)) if recorded]
    assert all(len(recorded) <= 2 for recorded in several)
    assert len({recorded[0][0] for recorded in several}) > 2
