"""2048: moves against lines merged by hand, exact spawns, optimal play on 2x2, and the Gymnasium environment."""

from __future__ import annotations

import functools
import importlib.util
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from typer import BadParameter

from zermelo.agents import make_agent
from zermelo.envs import IllegalActionError, as_game, clone_env, register_envs, verify_clone
from zermelo.envs.adapters.rules import LiveRulesGame
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.game import Chance
from zermelo.envs.games import Game2048
from zermelo.envs.games.twenty_forty_eight import Game2048State, packed, weights
from zermelo.envs.games.twenty_forty_eight.environment import Game2048Env
from zermelo.envs.rules import RulesGame
from zermelo.envs.rules.words import spread


def position(rules: Game2048, tiles: Any, score: int = 0, to_come: int = 0) -> Game2048State:
    """A state from the exponents of the tiles."""
    board = rules.initial_state().board
    for square, tile in enumerate(np.array(tiles).ravel().tolist()):
        board = board | spread(board, 62 * (square // 12) + 5 * (square % 12), tile)
    return Game2048State(board, score, to_come)


def pushed(line: list[int]) -> tuple[list[int], int]:
    """A line pushed to its start, and the score that gives: the rules, slowly."""
    tiles, out, score = [tile for tile in line if tile], [], 0
    while tiles:
        if len(tiles) > 1 and tiles[0] == tiles[1]:
            out.append(tiles[0] + 1)
            score += 2 ** (tiles[0] + 1)
            tiles = tiles[2:]
        else:
            out.append(tiles.pop(0))
    return out + [0] * (len(line) - len(out)), score


def test_lines_by_hand() -> None:
    rules = Game2048(1, 4)
    for line, left, score in (
        ([1, 1, 1, 1], [2, 2, 0, 0], 8),
        ([1, 1, 1, 0], [2, 1, 0, 0], 4),
        ([0, 1, 0, 1], [2, 0, 0, 0], 4),
        ([2, 1, 1, 2], [2, 2, 2, 0], 4),
        ([0, 0, 0, 3], [3, 0, 0, 0], 0),
    ):
        after = rules.result(position(rules, line, 100), 3)
        assert rules.tiles(after).tolist() == [left]
        assert after.score == 100 + score
        assert after.tiles_to_come == 1
        assert pushed(line) == (left, score)
    after = rules.result(position(rules, [1, 1, 1, 0]), 1)
    assert rules.tiles(after).tolist() == [[0, 0, 1, 2]]


SIZES = [(4, 4), (2, 3), (5, 5), (6, 12), (1, 2)]


@pytest.mark.parametrize(
    ("size", "lowest", "highest"), [*((size, 1, 3) for size in SIZES), ((4, 4), 13, 15), ((4, 4), 14, 17)]
)
def test_moves_are_the_slow_rules(size: tuple[int, int], lowest: int, highest: int) -> None:
    rules, generator = Game2048(*size), np.random.default_rng(3)
    game = RulesGame(rules)
    for _ in range(60):
        tiles = generator.integers(lowest - 1, highest + 1, size)
        tiles[tiles < lowest] = 0
        state = position(rules, tiles)
        moving = []
        for action, turned in enumerate((tiles.T, tiles[:, ::-1], tiles.T[:, ::-1], tiles)):
            lines, scores = zip(*(pushed(line) for line in turned.tolist()), strict=True)
            if list(lines) == turned.tolist():
                continue
            moving.append(action)
            after = game.result(state, action)
            seen = rules.tiles(after)
            back = (seen.T, seen[:, ::-1], seen.T[:, ::-1], seen)[action]
            assert back.tolist() == list(lines)
            assert after.score == sum(scores)
        assert list(game.legal_actions(state)) == moving
        assert game.is_terminal(state) == (not moving)


def test_new_tiles() -> None:
    rules = Game2048(2, 2)
    game = RulesGame(rules)
    state = position(rules, [[1, 0], [0, 5]], 7, 1)
    outcomes = game.chance_outcomes(state)
    assert [outcome for outcome, _ in outcomes] == [2, 3, 4, 5]
    assert [chance for _, chance in outcomes] == pytest.approx([0.45, 0.05, 0.45, 0.05])
    assert rules.tiles(game.result(state, 3)).tolist() == [[1, 2], [0, 5]]
    assert game.result(state, 4) == position(rules, [[1, 0], [1, 5]], 7)
    assert game.initial_state().tiles_to_come == 2


SHAPES = ((0, 1, 2, 3, 4, 5), (4, 5, 6, 7, 8, 9), (0, 1, 2, 4, 5, 6), (4, 5, 6, 8, 9, 10))


@pytest.mark.parametrize("stage", [0, 1])
def test_the_evaluation_is_a_sum_over_all_images_of_shapes(stage: int) -> None:
    numbers = np.zeros(weights.SHAPES * weights.SIZE, int)
    with np.load(weights.FILES[stage]) as file:
        sizes = 256 * file["high"].astype(int) + file["low"]
        numbers[np.flatnonzero(np.unpackbits(file["known"]))] = np.where(sizes % 2, -1 - sizes // 2, sizes // 2)
    rules, generator = Game2048(), np.random.default_rng(5)
    images = [Game2048.symmetric_state(rules, position(rules, range(16)), symmetry) for symmetry in range(8)]
    boards = [rules.tiles(image).ravel().tolist() for image in images]
    for _ in range(10):
        tiles = generator.integers(0, 8, 16)
        tiles[generator.random(16) < 0.4] = 0
        tiles[generator.integers(16)] = 14 if stage else 13
        total = 0
        for shape, table in zip(SHAPES, np.split(numbers, 4), strict=True):
            for board in boards:
                total += int(table[sum(int(tiles[board[square]]) << 4 * k for k, square in enumerate(shape))])
        state = position(rules, tiles, 100, 1)
        assert weights.expected(packed.pack(*state.board)) == weights.POINTS[stage] * total
        assert rules.evaluation(state, 0) == 1024 * (100 + weights.POINTS[stage] * max(total, 0))
        for symmetry in range(8):
            assert rules.evaluation(rules.symmetric_state(state, symmetry), 0) == rules.evaluation(state, 0)
    board = position(rules, tiles).board
    assert packed.unpack(packed.pack(*board)) == board


def test_the_largest_tiles_count_as_half_as_large() -> None:
    rules = Game2048()

    def board(*tiles: int) -> int:
        return packed.pack(*position(rules, [*tiles, *[0] * (16 - len(tiles))]).board)

    assert weights.downgraded(board(14, 13, 12, 5), 0) == board(13, 12, 11, 5)
    assert weights.downgraded(board(15, 13, 12, 5), 0) == board(13, 12, 11, 5)
    assert weights.downgraded(board(15, 14, 12, 5), 0) == board(13, 12, 11, 5)
    assert weights.downgraded(board(13, 11, 9), 0) == board(13, 11, 9)
    assert weights.downgraded(board(*range(14, 0, -1)), 0) == board(*range(14, 0, -1))  # none is missing
    assert weights.downgraded(board(14, 13, 12, 5), 1) == board(14, 13, 12, 5)
    assert weights.downgraded(board(15, 13, 12, 5), 1) == board(14, 13, 12, 5)
    assert weights.downgraded(board(15, 14, 12, 5), 1) == board(14, 13, 12, 5)
    for tiles in ([13, 12, 14, 3], [15, 13, 12, 11], [13, 13, 13, 13]):
        assert weights.stage_of(board(*tiles)) == (max(tiles) > 13)


def test_evaluations_lie_inside_the_bounds_of_utility() -> None:
    rules = Game2048()
    for tiles in ([0] * 16, [17] * 16, list(range(2, 18)), [15, 14, 13, 12, 0, 0, 0, 0] + [0] * 8):
        for score in (0, rules.utility_bounds()[1]):
            assert (
                score <= rules.evaluation(position(rules, tiles, score, 1), 0) / 1024 <= rules.utility_bounds()[1]
            )
    assert Game2048().evaluates_before_chance()
    assert not Game2048(3, 4).evaluates_before_chance()
    assert Game2048(3, 4).evaluation(position(Game2048(3, 4), [1, 2] + [0] * 10, 7), 0) == 1024 * 107


@pytest.mark.thorough
def test_compiled_searches_read_the_same_numbers() -> None:
    game, generator, state = RulesGame(Game2048()), random.Random(4), RulesGame(Game2048()).initial_state()
    for number in range(60):
        if not state.tiles_to_come and number % 4 == 0:
            found = [
                make_agent(f"expectiminimax(depth=1, compile={how})").search_state(game, state).action_values
                for how in ("wait", "never")
            ]
            assert found[0] == found[1]
        options = [outcome for outcome, _ in game.chance_outcomes(state)] if state.tiles_to_come else None
        state = game.result(state, generator.choice(options or game.legal_actions(state)))


@pytest.fixture(scope="module")
def fit() -> Any:
    """The script that learns the numbers."""
    pytest.importorskip("numba")
    path = Path(__file__).resolve().parents[3] / "scripts" / "fit_2048.py"
    spec = importlib.util.spec_from_file_location("fit_2048", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_self_play_teaches(tmp_path: Path, fit: Any) -> None:
    learned = fit.first_state(0, 1)
    numbers, errors, starts = (learned[name] for name in ("numbers", "errors", "starts"))
    dice, scores, at = np.array([1]), np.zeros(10_000, np.int64), np.zeros(3, np.int64)
    game = np.zeros((2, fit.LONGEST), np.int64)
    ended = fit.play(numbers, errors, starts, 500_000, dice, game, at, scores, 0, 1.0, 0.5)
    assert scores[ended - 50 : ended].mean() > 5 * scores[:10].mean()
    rules, places, worth = Game2048(), np.zeros(fit.PLACES, np.int64), set[float]()
    for symmetry in range(8):
        board = rules.symmetric_state(position(rules, [1, 2, 3] + [0] * 13), symmetry).board
        fit.list_places(packed.pack(*board), places)
        worth.add(round(float(numbers[places].sum()), 1))
    assert len(worth) == 1
    assert worth.pop() > 100
    numbers[5], numbers[6] = 1e9, -7 * weights.UNIT
    fit.write(tmp_path / "numbers.npz", numbers)
    read = weights.read(tmp_path / "numbers.npz")
    assert read[5:7].tolist() == [(1 << 14) - 1, -7]
    rounded = np.rint(numbers[100:] / weights.UNIT)
    assert (read[100:] == np.where(np.abs(rounded) > fit.NEGLIGIBLE, rounded, 0)).all()


@pytest.mark.thorough
def test_a_game_is_played_again_from_its_middle(fit: Any) -> None:
    learned = fit.first_state(0, 2)
    numbers, errors, starts = (learned[name] for name in ("numbers", "errors", "starts"))
    dice, scores, at, count = np.array([3]), np.zeros(10, np.int64), np.zeros(3, np.int64), 0
    game = np.zeros((2, fit.LONGEST), np.int64)
    while not at[2]:
        count = int(at[1])
        fit.play(numbers, errors, starts, 1, dice, game, at, scores, 0, 1e-9, 0.5)
    new = int(at[0]) ^ int(game[0, count // 2])
    assert count > fit.SHORTEST
    assert new in {tile << 4 * square for square in range(15) for tile in (1, 2)} | {1 << 60, 2 << 60}
    assert scores[0] == game[1, :count].sum()


@pytest.mark.thorough
def test_the_second_stage_begins_with_a_new_tile_of_16384(fit: Any) -> None:
    starts = np.zeros(3, np.int64)
    fit.list_starts(weights.read(weights.FILES[0]).astype(np.float32), np.array([1]), starts)
    for board in starts.tolist():
        assert max(board >> 4 * square & 15 for square in range(16)) == 14


@pytest.mark.thorough
def test_learning_goes_on_in_its_own_stage_alone(tmp_path: Path, fit: Any) -> None:
    state = tmp_path / "learned.npz"
    for board, stage in ((0x11, 1), (0x1E, 2)):
        np.savez(state, starts=np.array([board]))
        with pytest.raises(BadParameter, match=f"is of stage {stage}: learn on with --stage {stage}"):
            fit.main(state, stage=3 - stage)


@pytest.mark.thorough
def test_what_a_game_teaches(fit: Any) -> None:
    rules, generator = Game2048(), np.random.default_rng(6)
    boards = [packed.pack(*position(rules, generator.integers(0, 4, 16)).board) for _ in range(30)]
    points, decay, rate = generator.integers(0, 100, 30), 0.7, 0.3
    numbers = np.zeros(weights.SHAPES * weights.SIZE, np.float32)
    errors = np.zeros((len(numbers), 2), np.float32)
    slow = {kind: defaultdict[int, float](float) for kind in ("number", "sum", "size")}
    places = np.zeros(fit.PLACES, np.int64)
    for _ in range(2):
        fit.learn(numbers, errors, np.array(boards), points, 30, 0, rate, decay)
        coming = 0.0
        for board, gain in zip(reversed(boards), reversed(points.tolist()), strict=True):
            fit.list_places(board, places)
            error = coming - sum(slow["number"][one] for one in places.tolist())
            for one in places.tolist():
                coherence = abs(slow["sum"][one]) / slow["size"][one] if slow["size"][one] else 1.0
                slow["number"][one] += rate * coherence * error / fit.PLACES
                slow["sum"][one] += error
                slow["size"][one] += abs(error)
            coming = decay * coming + (1 - decay) * sum(slow["number"][one] for one in places.tolist()) + gain
    for one, number in slow["number"].items():
        assert numbers[one] == pytest.approx(number, rel=1e-3, abs=1e-3)
    assert np.count_nonzero(numbers) <= len(slow["number"])


@pytest.mark.slow
def test_the_evaluation_plays_well_one_move_ahead() -> None:
    game, scores = RulesGame(Game2048()), []
    for seed in range(8):
        agent, generator, state = make_agent("greedy"), random.Random(seed), game.initial_state()
        while not game.is_terminal(state):
            if state.tiles_to_come:
                outcomes, chances = zip(*game.chance_outcomes(state), strict=True)
                state = game.result(state, generator.choices(outcomes, chances)[0])
            else:
                state = game.result(state, agent.search_state(game, state).action)
        scores.append(state.score)
    assert float(np.mean(scores)) > 100_000  # the score and the empty squares: 3,000


def best(goal: int | None) -> float:
    """On 2x2, by the rules' own moves: the greatest expected score, or the best chance of a tile."""
    game = RulesGame(Game2048(2, 2))

    @functools.cache
    def worth(state: Game2048State) -> float:
        """From a state with no score: score still to come, or the chance."""
        if goal is not None and goal in game.rules.tiles(state):
            return 1.0
        if game.is_terminal(state):
            return 0.0
        if state.tiles_to_come:
            return sum(p * worth(game.result(state, outcome)) for outcome, p in game.chance_outcomes(state))
        values = []
        for action in game.legal_actions(state):
            after = game.result(state, action)
            values.append(worth(after._replace(score=0)) + (after.score if goal is None else 0))
        return max(values)

    return worth(game.initial_state())


def test_optimal_play_on_two_by_two() -> None:
    assert best(None) == pytest.approx(66.9641494571, abs=6e-11)
    assert best(5) == pytest.approx(0.082887289072, abs=6e-13)


# -- the Gymnasium environment ------------------------------------------------------------------------------------


def made(**parameters: Any) -> Any:
    register_envs()
    return gymnasium.make("zermelo/Game2048-v0", **parameters)


@pytest.mark.thorough
@pytest.mark.parametrize("size", [(4, 4), (2, 5)])
def test_gymnasiums_own_check(size: tuple[int, int]) -> None:
    live = made(rows=size[0], columns=size[1], render_mode="ansi").unwrapped
    check_env(live)
    seen, _ = live.reset(seed=3)
    assert live.observation_space.contains(seen)
    assert live.reset(seed=3)[0].tolist() == seen.tolist()


def test_rewards_are_the_score() -> None:
    live = made(rows=3, columns=3)
    seen, info = live.reset(seed=5)
    assert np.count_nonzero(seen) == 2
    generator, total, over = random.Random(5), 0.0, False
    while not over:
        legal = np.flatnonzero(info["action_mask"]).tolist()
        for action in set(range(4)) - set(legal):
            same, reward, ended, _, _ = live.step(action)
            assert (same.tolist(), reward, ended) == (seen.tolist(), 0.0, False)
        seen, reward, over, truncated, info = live.step(generator.choice(legal))
        total += reward
        assert not truncated
        assert total == info["score"]
    assert not info["action_mask"].any()
    assert live.observation_space.contains(seen)


@pytest.mark.thorough
def test_it_is_searched_by_its_rules() -> None:
    live = made(rows=2, columns=2)
    live.reset(seed=1)
    game = as_game(live)
    assert type(game) is LiveRulesGame
    assert game.rules == Game2048(2, 2)
    assert game.traits.chance is Chance.EXACT
    assert game.traits.seats == 1
    state = game.snapshot(live)
    assert state == live.unwrapped.position
    live.step(int(game.legal_actions(state)[0]))
    assert game.snapshot(live) == live.unwrapped.position != state
    by_clone = as_game(live, backend="clone")
    copied = by_clone.snapshot(live)
    assert by_clone.legal_actions(copied) == tuple(game.legal_actions(game.snapshot(live)))


def test_copies() -> None:
    live = made(rows=2, columns=3)
    live.reset(seed=4)
    live.step(0)
    copy = clone_env(live)
    assert copy.unwrapped.position == live.unwrapped.position
    verify_clone(lambda: made(rows=2, columns=3), games=2)


def test_what_the_environment_does_not_take() -> None:
    with pytest.raises(InvalidSettingError, match=r"Game2048 needs .*, not rows=1, columns=1"):
        Game2048Env(1, 1)
    with pytest.raises(InvalidSettingError, match=r"render_mode must be .*, not 'human'"):
        Game2048Env(render_mode="human")
    live = Game2048Env()
    live.reset(seed=1)
    with pytest.raises(IllegalActionError, match="7 is no action of 2048"):
        live.step(7)


def test_what_is_seen() -> None:
    rules = Game2048(2, 3)
    state = position(rules, [[1, 0, 7], [0, 2, 0]], 12)
    assert rules.text(state) == "  2    .  128\n  .    4    .\nscore: 12"
    assert rules.action_text(state, 2) == "down"
    assert rules.action_text(state._replace(tiles_to_come=1), 7) == "4 at row 2, column 1"
    assert rules.evaluation(state, 0) == 1024 * 42
