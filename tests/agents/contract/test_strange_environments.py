"""What strangers' environments are like: every agent that searches answers in them, and is right."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from doubles.odd_boards import BOARDS, FailsSometimes, ForgetsItsMask, at, best
from doubles.wagers import Wagers, WagersAlone

from zermelo.agents import make_agent
from zermelo.envs import as_game, verify_clone
from zermelo.envs.errors import EnvFailedError, EnvFailureWarning
from zermelo.envs.game import Chance, RewardSum
from zermelo.evaluation import play_match

POSITIONS = ((4, 0, 8, 2), (1, 4, 0, 2, 7))
SEARCHES = (
    "minimax(depth=9)",
    "alphabeta(depth=9)",
    "alphabeta(nodes=800)",
    "expectiminimax(depth=9)",
    "maxn(depth=9)",
    "paranoid(depth=9)",
    "bestreply(depth=9)",
    "mcts(simulations=600)",
)
FAILING = {FailsSometimes.__name__, ForgetsItsMask.__name__}


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    """What is assumed, left out or paid otherwise is said in warnings, which tests of their own look at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("spec", SEARCHES)
@pytest.mark.parametrize("kind", BOARDS)
def test_every_search_plays_a_best_move(kind: str, spec: str) -> None:
    moves = POSITIONS[(len(kind) + len(spec)) % len(POSITIONS)]
    env = at(BOARDS[kind], moves)
    result = make_agent(spec).search(env)
    assert result.env_action in best(env)
    if "depth=9" in spec:
        assert result.depth >= 3
        assert result.method != "one ply"
    assert result.proven is False  # what random play has shown proves nothing


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[pytest.mark.slow] * (kind == "HoldsSets"))
        for kind in BOARDS
        if kind not in FAILING
    ],
)
def test_boards_with_equal_keys_are_equal(kind: str) -> None:
    """However much of them is clocks and identifiers: else a table would give the value of another board."""
    game = as_game(at(BOARDS[kind], ()))
    boards: dict[Any, Any] = {}
    waiting, looked = [(game.snapshot(at(BOARDS[kind], ())), 4)], 0
    while waiting and looked < 1_500:
        state, depth = waiting.pop()
        env = game.environment(state)
        looked += 1
        cells = tuple(env.cells), env.agent_selection
        assert boards.setdefault(game.key(state), cells) == cells
        if depth and not game.is_terminal(state):
            waiting += [(game.result(state, action), depth - 1) for action in game.legal_actions(state)]
    assert len({*boards.values()}) > 100


@pytest.mark.parametrize("kind", BOARDS)
def test_what_they_are_is_found_out(kind: str) -> None:
    traits = as_game(at(BOARDS[kind], ())).traits
    assert traits.chance is Chance.NONE
    assert traits.reward_sum is RewardSum.ZERO
    assert traits.is_open
    assert not traits.peeks


@pytest.mark.parametrize("kind", [kind for kind in BOARDS if kind not in FAILING])
def test_copies_are_verified_and_matches_pay(kind: str) -> None:
    verify_clone(BOARDS[kind], games=2)
    record = play_match(BOARDS[kind](), ["alphabeta(depth=2)", "random"], seed=3)
    assert record.end.name == "TERMINATED"
    assert sum(record.rewards) == 0
    assert set(record.rewards) in ({0.0}, {-1.0, 1.0})
    assert record.rewards[0] >= 0


def test_a_line_of_play_in_which_the_environment_fails_is_left_out_and_told_once() -> None:
    env = at(FailsSometimes, (4, 0, 8, 2))
    with pytest.warns(EnvFailureWarning, match=r"KeyError.*odd_boards\.py.*line \d+"):
        result = make_agent("alphabeta(depth=9)").search(env)
    assert result.failures >= 1
    assert not result.proven
    assert result.env_action in best(env)


def test_where_no_action_works_the_search_says_so() -> None:
    class NeverWorks(FailsSometimes):
        def step(self, action: Any) -> None:
            if self.cells.count(0) <= 5:
                raise KeyError("a bug of the environment")
            super().step(action)

    env = at(NeverWorks, (4, 0, 8, 2))
    for spec in ("alphabeta(depth=2)", "mcts(simulations=50)", "greedy", "maxn(depth=2)"):
        with pytest.raises(EnvFailedError, match="fails after every action"):
            make_agent(spec).act(env)


# -- dice


def _expected(turn: int, players: int, rounds: int) -> tuple[float, ...]:
    """What each player gets from a turn on when all stake what is best: 2 a turn of whose turn it is, by sides."""
    mover = turn % players
    if turn == rounds * players:
        return (0.0,) * players
    rest = _expected(turn + 1, players, rounds)
    gains = []
    for outcomes in ((-0.25, -0.25), (0.0, 0.0), (-0.5, 1.5)):
        gain = sum(outcomes) / 2
        shares = [-gain if players == 2 else 0.0] * players
        shares[mover] = gain
        gains.append(tuple(a + b for a, b in zip(shares, rest, strict=True)))
    return max(gains, key=lambda values: values[mover])


DICE_SEARCHES = {
    1: ("expectimax", "expectiminimax", "maxn", "paranoid"),
    2: ("expectiminimax", "expectimax", "maxn", "paranoid", "bestreply"),
    3: ("maxn", "paranoid", "bestreply", "expectimax"),
    4: ("maxn", "paranoid", "bestreply"),
}


@pytest.mark.parametrize("pays", ["at once", "at the end"])
@pytest.mark.parametrize(
    ("players", "name"),
    [
        pytest.param(players, name, marks=[pytest.mark.slow] * (players == 4 and name != "bestreply"))
        for players, names in DICE_SEARCHES.items()
        for name in names
    ],
)
@pytest.mark.thorough
def test_sampled_dice_are_averaged(players: int, name: str, pays: str) -> None:
    """The stakes are worth -0.25, 0 and 0.5 on average."""
    rounds = 2 if players == 1 else 1
    env: Any = WagersAlone(pays, rounds) if players == 1 else Wagers(players, pays, rounds)
    env.reset(seed=5)
    assert as_game(env).traits.chance is Chance.SAMPLED
    result = make_agent(f"{name}(depth={rounds * players}, samples=60)").search(env)
    assert result.env_action == 2
    assert result.is_estimate
    assert not result.proven
    if name not in ("paranoid", "bestreply") or players < 3:
        assert result.value == pytest.approx(_expected(0, players, rounds)[0], abs=0.4)


@pytest.mark.parametrize("pays", ["at once", "at the end"])
@pytest.mark.parametrize("players", [1, 2, 3, 4])
@pytest.mark.parametrize("spec", ["mcts(simulations=400)", "auto(nodes=1_500)"])
def test_simulations_of_dice_find_the_best_stake(players: int, spec: str, pays: str) -> None:
    env: Any = WagersAlone(pays, 1) if players == 1 else Wagers(players, pays, 1)
    for seed in range(5):  # whose first draws are luck of both kinds
        env.reset(seed=seed)
        assert make_agent(spec.replace(")", f", seed={seed})")).act(env) == 2
