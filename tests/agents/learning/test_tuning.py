"""Evaluations fitted to self-play: features, returns, regressions, files, and what the command says."""

from __future__ import annotations

import dataclasses
import errno
import functools
import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from doubles.stacks import StackingEnv
from typer.testing import CliRunner

from zermelo.agents import make_agent
from zermelo.agents.compiled.evaluators.patterns import fitted_value
from zermelo.agents.core.options import FITTED_UNIT
from zermelo.agents.core.playouts import random_game
from zermelo.agents.evaluators.fitted.evaluator import FittedEvaluator, load_evaluation
from zermelo.agents.evaluators.fitted.feature_sets import AboveEvaluation, AnyFeatures, feature_set
from zermelo.agents.evaluators.fitted.observed import Entries, ObservationFeatures, observed_array
from zermelo.agents.evaluators.fitted.pattern_tables import find_bits
from zermelo.agents.evaluators.fitted.patterns import OWN, PatternFeatures, turned
from zermelo.agents.learning.tuning.fitting import Played, outcome_bounds, regress, with_returns
from zermelo.agents.learning.tuning.self_play import SelfPlay, searching
from zermelo.agents.learning.tuning.tune import tune
from zermelo.agents.players.alpha_beta import AlphaBetaAgent
from zermelo.agents.players.greedy import GreedyAgent
from zermelo.envs import InvalidSettingError, UnsupportedGameError, as_game, make_env
from zermelo.envs.games import MNK, Breakthrough, Kalah, Othello, Pig
from zermelo.envs.rules import RulesGame
from zermelo.envs.rules.env import RulesEnv
from zermelo.evaluation.cli.app import app

TICTACTOE = RulesGame(MNK(3, 3, 3))
PAWNS = RulesGame(Breakthrough(rows=4, columns=3))


def some_states(game: Any, seed: int = 1, games: int = 4) -> list[Any]:
    """Of games at random."""
    generator = np.random.default_rng(seed)
    return [state for _ in range(games) for state in random_game(game, game.initial_state(), generator, 999)]


def slow_patterns(game: Any, state: Any, second: int = OWN, turns: tuple[int, ...] = (0,)) -> list[Any]:
    """The windows of a board and what they hold, found with loops; of those that share weights the same answer."""
    seen, seat = observed_array(game, state)[:, :, :2], game.to_move(state)
    if second != OWN:
        seen, seat = turned(seen, second) if seat == 1 else seen, 0
    rows, columns = seen.shape[:2]
    boards = {turn: turned(np.arange(rows * columns).reshape(rows, columns), turn).ravel() for turn in turns}
    board = {(r, c): tuple(seen[r, c].tolist()) for r in range(rows) for c in range(columns)}
    found = []
    for window in every_window(rows, columns):
        images = [tuple(sorted(int(places[cell]) for cell in window)) for places in boards.values()]
        # The image that comes first, each of its cells with what stands where it came from.
        first = min(images)
        held = {
            tuple(sorted((int(places[cell]), board[divmod(cell, columns)]) for cell in window))
            for places, image in zip(boards.values(), images, strict=True)
            if image == first
        }
        found.append((seat, min(held) if len(turns) > 1 else held.pop()))
    return found


def every_window(rows: int, columns: int) -> set[tuple[int, ...]]:
    """Squares of one, four and nine cells, lines of three, and whole lines of four to eight."""
    shapes = [[(r, c) for r in range(side) for c in range(side)] for side in (1, 2, 3)]
    lines = [(0, 1), (1, 0), (1, 1), (1, -1)]
    shapes += [[(d * i, r * i) for i in range(3)] for d, r in lines]
    found = set()
    for row, column in itertools.product(range(rows), range(columns)):
        for shape in shapes:
            cells = [(row + down, column + right) for down, right in shape]
            if all(0 <= r < rows and 0 <= c < columns for r, c in cells):
                found.add(tuple(r * columns + c for r, c in cells))
        for d, r in lines:
            whole = [(row + d * i, column + r * i) for i in range(-8, 9)]
            inside = tuple(a * columns + b for a, b in whole if 0 <= a < rows and 0 <= b < columns)
            if 4 <= len(inside) <= 8:
                found.add(inside)
    return found


@pytest.mark.parametrize(
    ("game", "second", "turns"),
    [
        (PAWNS, OWN, (0,)),
        (PAWNS, 2, (0, 1)),
        (PAWNS, 3, (0, 1, 2, 3)),
        (TICTACTOE, 0, tuple(range(8))),
        (TICTACTOE, OWN, (0, 3)),
    ],
)
def test_patterns_are_what_stands_on_small_windows(game: Any, second: int, turns: tuple[int, ...]) -> None:
    """States have as many patterns in common as windows looked at one by one."""
    states = some_states(game, games=2)
    features = feature_set("patterns", game, states)
    assert isinstance(features, PatternFeatures)
    features = msgspec.structs.replace(features, second=second, turns=turns)
    entries = features.entries(game, states)
    assert 0 <= entries.indices.min() <= entries.indices.max() < features.size
    slow = [Counter(slow_patterns(game, state, second, turns)) for state in states]
    fast = [Counter(entries.indices[a:b].tolist()) for a, b in itertools.pairwise(entries.starts.tolist())]
    for one, two in itertools.combinations_with_replacement(range(len(states)), 2):
        assert (fast[one] & fast[two]).total() == (slow[one] & slow[two]).total()


def test_phases_have_weights_of_their_own_above_those_of_the_whole_game() -> None:
    states = some_states(TICTACTOE, games=3)
    features = feature_set("patterns", TICTACTOE, states)
    assert isinstance(features, PatternFeatures)
    features = msgspec.structs.replace(features, second=0)
    parted = msgspec.structs.replace(features, phases=(3, 6))
    whole = np.random.default_rng(1).normal(size=features.size)
    phases = np.random.default_rng(2).normal(size=(3, features.size))
    sums = parted.entries(TICTACTOE, states).sums(np.concatenate([whole, *phases]))
    plain = features.entries(TICTACTOE, states)
    stones = [int(observed_array(TICTACTOE, state)[:, :, :2].sum()) for state in states]
    for place, held in enumerate(stones):
        own = whole + phases[held // 3]
        assert sums[place] == pytest.approx(plain.sums(own)[place])


def test_an_observations_numbers_are_features() -> None:
    states = some_states(TICTACTOE)
    features = feature_set("observation", TICTACTOE, states)
    weights = np.random.default_rng(2).normal(size=features.size)
    sums = features.entries(TICTACTOE, states).sums(weights)
    half = features.size // 2
    for state, found in zip(states, sums, strict=True):
        own = weights[half * TICTACTOE.to_move(state) :][:half]
        assert found == pytest.approx(observed_array(TICTACTOE, state).ravel() @ own[:-1] + own[-1])


def test_pettingzoos_boards_have_patterns_too() -> None:
    env = make_env("classic/connect_four-v3")
    env.reset(seed=1)
    game = as_game(env, backend="clone")
    state = game.snapshot(env)
    states = [state]
    for action in (3, 3, 2, 4):
        states.append(game.result(states[-1], action))
    features = feature_set("patterns", game, states)
    assert isinstance(features, PatternFeatures)
    assert (features.rows, features.columns, len(features.planes)) == (6, 7, 2)
    assert feature_set("auto", game, states) == features, "nobody has written an evaluation of its copies"


@pytest.mark.parametrize("name", ["patterns", "observation", "auto", f"{__name__}:NAMED"])
def test_features_are_made_again_from_their_settings(name: str) -> None:
    states = some_states(PAWNS)
    features = feature_set(name, PAWNS, states)
    again = msgspec.json.decode(msgspec.json.encode(features), type=AnyFeatures)
    assert again == features
    weights = np.random.default_rng(1).normal(size=features.size)
    one, two = (kind.entries(PAWNS, states).sums(weights) for kind in (features, again))
    assert np.array_equal(one, two)


NAMED = {
    "ply": lambda game, state: float(bin(state.mover | state.other).count("1")),
    "pawns": lambda game, state: float(bin(state.mover).count("1") * (1 - 2 * state.seat)),
}


def test_a_game_of_another_shape_is_refused_in_a_sentence() -> None:
    for name in ("patterns", "observation"):
        features = feature_set(name, PAWNS, some_states(PAWNS))
        with pytest.raises(UnsupportedGameError, match="was fitted to a game that shows its players"):
            features.entries(TICTACTOE, some_states(TICTACTOE))
    with pytest.raises(InvalidSettingError, match="must be patterns, observation"):
        feature_set("pattern", PAWNS, some_states(PAWNS))


def test_a_regression_finds_the_weights_that_made_the_data() -> None:
    generator = np.random.default_rng(3)
    rows, truth = generator.normal(size=(4000, 3)), np.array([1.0, -2.0, 0.5])
    entries = Entries(np.tile(np.arange(3), 4000), rows.ravel(), np.arange(4001) * 3, np.zeros(4000, np.int64))
    train, test, none = np.arange(3600), np.arange(3600, 4000), np.zeros(3)
    chances = 1 / (1 + np.exp(-rows @ truth))
    fit = regress(entries, chances, train, test, none, ridge=1e-6)
    assert fit.weights == pytest.approx(truth, abs=1e-3)
    wins = (generator.random(4000) < chances).astype(float)
    fit = regress(entries, wins, train, test, none, ridge=1.0)
    assert fit.weights == pytest.approx(truth, abs=0.25)
    assert fit.loss < 0.75 * fit.average
    linear = regress(entries, rows @ truth, train, test, none, ridge=1e-9, logistic=False)
    assert linear.weights == pytest.approx(truth, abs=1e-4)
    assert regress(entries, wins, train, test, truth, ridge=1e9).weights == pytest.approx(truth, abs=1e-4)


@pytest.mark.parametrize("outcome_share", [0.0, 0.6, 1.0])
def test_returns_mix_the_outcome_with_what_the_player_expected(outcome_share: float) -> None:
    states = some_states(TICTACTOE, seed=5, games=1)
    features = ObservationFeatures.fitting(TICTACTOE, states)
    evaluator = FittedEvaluator(features, np.random.default_rng(1).normal(size=features.size))
    player = searching(TICTACTOE, GreedyAgent(evaluator=evaluator, seed=1), is_learned=True)
    loop = SelfPlay(TICTACTOE, states[:1], [player], 0, 99, np.random.default_rng(1))
    (played,) = with_returns(TICTACTOE, features, *loop.play(), outcome_share)
    state, expected = states[0], []
    while not TICTACTOE.is_terminal(state):
        sign = 1 if TICTACTOE.to_move(state) == 0 else -1
        values = {a: sign * _looks(evaluator, TICTACTOE.result(state, a)) for a in TICTACTOE.legal_actions(state)}
        best = max(values, key=lambda action: values[action])
        expected.append((sign, values[best]))
        state = TICTACTOE.result(state, best)
    final = TICTACTOE.utility(state)[0]
    returns = [outcome_share * sign * final + (1 - outcome_share) * value for sign, value in expected]
    assert played.returns == pytest.approx(returns)


def _looks(evaluator: FittedEvaluator, state: Any) -> float:
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
    path = str(tmp_path / "mnk.json")
    tuned = tune("zermelo/MNK-v0", out=path, features="patterns", games=1_000, rounds=2, seed=6, ridge=3.0)
    assert [one.games for one in tuned.rounds] == [1_000, 1_000]
    assert tuned.rounds[-1].loss < tuned.rounds[-1].average
    loaded = load_evaluation(path)
    assert loaded == tuned.evaluator
    states = some_states(TICTACTOE, seed=9, games=30)
    truth = np.array([perfect(state) for state in states])
    said = np.array([loaded(TICTACTOE, state)[0] for state in states])
    assert np.abs(said).max() < 1
    assert np.corrcoef(truth, said)[0, 1] > 0.5
    agent = make_agent(f"alphabeta(depth=2, evaluator='{path}', seed=1)")
    env = make_env("zermelo/MNK-v0")
    env.reset(seed=1)
    action = agent.act(env)
    assert env.action_space(env.agent_selection).contains(action)
    assert make_agent(agent.name).act(env) == action


@pytest.mark.thorough
def test_the_same_seed_finds_the_same_weights(tmp_path: Path) -> None:
    out = str(tmp_path / "same.json")
    one, two, other = (
        tune("zermelo/MNK-v0", out=out, features="observation", games=10, rounds=2, seed=seed).evaluator.weights
        for seed in (4, 4, 5)
    )
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


@pytest.mark.thorough
def test_an_environment_without_rules_can_be_tuned(tmp_path: Path) -> None:
    out = str(tmp_path / "stacks.json")
    tuned = tune(StackingEnv, out=out, games=20, rounds=2, seed=1)
    features = tuned.evaluator.features
    assert isinstance(features, PatternFeatures)
    assert features.planes == (0, 1, 2, 3, 4, 5)
    assert tuned.rounds[0].games == 20
    assert load_evaluation(out) == tuned.evaluator


def test_games_of_dice_and_rewards_on_the_way_can_be_tuned(tmp_path: Path) -> None:
    for name, rules in (("pig", Pig(target=20)), ("kalah", Kalah(houses=2, seeds=2))):
        out = str(tmp_path / f"{name}.json")
        make = functools.partial(RulesEnv, rules)
        tuned = tune(make, out=out, features="observation", games=10, rounds=2)
        assert np.isfinite(tuned.evaluator.weights).all()
        assert tuned.rounds[1].positions > 0


@pytest.mark.thorough
def test_the_command_says_what_it_found_and_what_is_wrong(tmp_path: Path) -> None:
    path = str(tmp_path / "small.json")
    few = ["--games", "10", "--rounds", "1", "--match", "4", "--features", "patterns"]
    run = CliRunner().invoke(app, ["tune", "zermelo/MNK-v0", "-o", path, *few])
    assert run.exit_code == 0, run.output
    assert "round" in run.output
    assert "weights of patterns" in run.output
    assert "against alphabeta(depth=2)" in run.output
    for wrong, told in (
        (["zermelo/MNK-v0", "-o", "x.txt"], "must end in .json"),
        (["zermelo/MNK-v0", "-o", str(tmp_path / "absent" / "x.json")], "there is no folder"),
        (["zermelo/MNK-v0", "--features", "none", "-o", path], "must be patterns"),
        (["zermelo/DotsAndBoxes-v0(players=3)", "-o", path], "needs one or two players"),
    ):
        refused = CliRunner().invoke(app, ["tune", *wrong])
        assert refused.exit_code == 2
        assert told in refused.output


def test_a_full_disk_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(InvalidSettingError, match=r"cannot write .*full\.json: No space left on device"):
        tune("zermelo/MNK-v0", out=str(tmp_path / "full.json"), features="observation", games=10, rounds=1)


def test_outcomes_that_were_seen_are_bounds_where_a_game_says_none(tmp_path: Path) -> None:
    """Of wins, draws and losses; scores may always be higher."""
    unbounded = dataclasses.replace(TICTACTOE.traits, utility_bounds=(-np.inf, np.inf))
    nothing = Entries(np.zeros(0, np.int64), np.zeros(0), np.zeros(4, np.int64), np.zeros(3, np.int64))

    def seen(*returns: float) -> tuple[float, float]:
        return outcome_bounds(unbounded, [Played((), nothing, np.array(returns))])

    assert seen(1.0, 0.0, 1.0) == seen(-1.0, 1.0, 1.0) == (-1.0, 1.0)
    assert seen(3.0, -1.0, 1.0) == seen(0.0, 0.0, 0.0) == (-np.inf, np.inf)
    assert outcome_bounds(TICTACTOE.traits, []) == (-1.0, 1.0)
    states = some_states(TICTACTOE)
    features = feature_set("observation", TICTACTOE, states)
    evaluator = FittedEvaluator(features, np.full(features.size, 50.0), bounds=(-1.0, 1.0))
    (tmp_path / "seen.json").write_text(evaluator.as_json())
    loaded = load_evaluation(str(tmp_path / "seen.json"))
    assert loaded == evaluator != FittedEvaluator(features, evaluator.weights)
    assert loaded.expected(unbounded, features.entries(TICTACTOE, states)).max() < 1


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"form": "zermelo evaluation", "version": 99}', "no json"])
def test_a_damaged_file_is_refused_in_a_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "damaged.json"
    path.write_text(text)
    with pytest.raises(InvalidSettingError, match=r"damaged\.json is no evaluation"):
        make_agent(f"alphabeta(depth=1, evaluator='{path}')")
    with pytest.raises(InvalidSettingError, match="there is no file"):
        load_evaluation(str(tmp_path / "absent.json"))


@pytest.mark.parametrize(
    ("rules", "settings"),
    [
        (Breakthrough(rows=4, columns=3), {"second": 2, "turns": (0, 1)}),
        (Breakthrough(rows=4, columns=3), {"phases": (3, 8), "longest": 4}),
        (Othello(rows=4, columns=5), {"second": 3, "phases": (7, 12)}),
        (MNK(3, 3, 3), {"second": 0, "turns": tuple(range(8))}),
    ],
)
@pytest.mark.parametrize("above", [False, True])
def test_compiled_code_evaluates_as_the_file_does(rules: Any, settings: Any, above: bool) -> None:
    """Bits of the state, which nobody has said how to read, give the numbers that observations give."""
    game = RulesGame(rules)
    states = some_states(game, games=60)
    features: Any = feature_set("patterns", game, states)
    features = msgspec.structs.replace(features, **settings)
    features = AboveEvaluation(features) if above else features
    weights = np.random.default_rng(1).normal(size=features.size) / 8
    evaluator = FittedEvaluator(features, weights)
    tables = evaluator.tables(game)
    assert tables is not None
    states = some_states(game, seed=2, games=3)
    for state in states:
        assert fitted_value(rules, state, tables.address) == FITTED_UNIT * evaluator(game, state)[0]


def test_bits_are_not_guessed() -> None:
    """Where cells are no bits of the state, or are not known for both seats, nothing is looked up."""
    states = some_states(TICTACTOE, games=30)
    patterns = feature_set("patterns", TICTACTOE, states)
    assert isinstance(patterns, PatternFeatures)
    assert find_bits(patterns, TICTACTOE, states) is not None
    assert find_bits(patterns, TICTACTOE, states[:2]) is None
    assert find_bits(patterns, TICTACTOE, [s for s in states if TICTACTOE.to_move(s) == 0]) is None
    shown_counts = RulesGame(Kalah(houses=2, seeds=2))
    for features, game in (
        (feature_set("observation", TICTACTOE, states), TICTACTOE),
        (PatternFeatures(2, 1, 6, codes=tuple(range(9))), shown_counts),
        (PatternFeatures(2, 1, 6, planes=(0, 1)), RulesGame(Pig(target=20))),
    ):
        assert FittedEvaluator(features, np.zeros(features.size)).tables(game) is None
    assert FittedEvaluator(patterns, np.zeros(patterns.size), bounds=(-1.0, 1.0)).tables(TICTACTOE) is None


@pytest.mark.thorough
def test_searches_play_themselves_by_the_written_evaluation() -> None:
    start = PAWNS.initial_state()
    features = feature_set("observation", PAWNS, [start])
    agent = AlphaBetaAgent(depth=2, seed=1)
    generator = np.random.default_rng(1)
    player = searching(PAWNS, agent, is_learned=False)
    loop = SelfPlay(PAWNS, [start], [player], 0, 99, generator)

    def games() -> list[Played]:
        return with_returns(PAWNS, features, *loop.play(), 0.5)

    (played,) = games()
    line = list(played.states)
    assert line[0] == start
    best = AlphaBetaAgent(depth=2, exact=True)
    for state, following in itertools.pairwise(line):
        result = best.search_state(PAWNS, state)
        values = {PAWNS.result(state, action): value for action, value in result.action_values.items()}
        assert values[following] == result.value
    ends = {PAWNS.utility(PAWNS.result(line[-1], action)) for action in PAWNS.legal_actions(line[-1])}
    assert any(played.returns.tolist() == [end[PAWNS.to_move(state)] for state in line] for end in ends)
    (other,) = games()
    assert list(other.states) != line, "of equal moves one is drawn"
    loop = SelfPlay(PAWNS, [start], [player], 3, 2, generator)
    several = [game for _ in range(20) for game in games()]
    assert all(0 < len(game.states) <= 2 for game in several)
    assert len({game.states[0] for game in several}) > 2
