"""Solved games as files, and the agent that plays them."""

from __future__ import annotations

import dataclasses
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from doubles.small_games import AIMA_5_2, CoinRow, TreeGame

from zermelo.agents import AlphaBetaAgent, MinimaxAgent, make_agent
from zermelo.agents.equilibrium.agents import PolicyTableAgent
from zermelo.agents.solutions.policy_table import PolicyTable, stable_key
from zermelo.agents.solving.solve_policy import solve_policy
from zermelo.envs import UnsupportedGameError, make
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import MNK, Hex, Hexapawn, Nim, Pig
from zermelo.envs.rules import RulesGame
from zermelo.envs.support.data_files import write_lines


@pytest.fixture(scope="module")
def tictactoe(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("policies") / "tictactoe.jsonl.gz"
    solve_policy(MNK(), plan="full").save(path)
    return str(path)


def optimal(table: PolicyTable, key: str) -> tuple[float | None, tuple[int, ...]]:
    """The value and the actions at a state, which are all as likely."""
    value, shares = table.entries[key]
    assert set(shares.values()) == {1 / len(shares)}
    return value, tuple(shares)


@pytest.mark.thorough
def test_every_unfinished_state_is_there(tictactoe: str) -> None:
    # 5,478 states of tic-tac-toe, of which 958 are finished
    assert len(PolicyTable.load(tictactoe)) == 5478 - 958


@pytest.mark.thorough
def test_the_actions_are_those_of_minimax(tictactoe: str) -> None:
    table = PolicyTable.load(tictactoe)
    game = RulesGame(MNK())
    generator = random.Random(1)
    for _ in range(40):
        state = game.initial_state()
        while not game.is_terminal(state) and generator.random() < 0.85:
            state = game.result(state, generator.choice(list(game.legal_actions(state))))
        if not game.is_terminal(state):
            expected = MinimaxAgent().search_state(game, state)
            assert optimal(table, stable_key(game, state)) == (expected.value, expected.best_actions)


@pytest.mark.thorough
@pytest.mark.parametrize("owner", [0, 1])
@pytest.mark.parametrize(
    "rules", [MNK(), pytest.param(Hexapawn(), marks=pytest.mark.slow), Nim((1, 2, 3))], ids=str
)
def test_a_plan_answers_whatever_the_other_does(rules: Any, owner: int, tmp_path: Path) -> None:
    game = RulesGame(rules)
    table = solve_policy(game, seat=owner)
    table.save(tmp_path / "plan")
    agent = PolicyTableAgent(path=str(tmp_path / "plan"))
    value = AlphaBetaAgent(depth="full").search_state(game).values_by_seat[owner]
    generator = random.Random(f"{rules} {owner}")
    for seed in range(20):
        agent.reset(seed)
        state = game.initial_state()
        while not game.is_terminal(state):
            if game.to_move(state) == owner:
                action = agent.search_state(game, state).action
            else:
                action = generator.choice(list(game.legal_actions(state)))
            state = game.result(state, action)
        assert game.utility(state)[owner] >= value
    assert len(table) < len(solve_policy(game, plan="full"))


@pytest.mark.thorough
def test_it_plays_in_the_environment(tictactoe: str) -> None:
    env = make("classic/tictactoe-v3")
    agent = make_agent(f'policytable(path="{tictactoe}", seed=3)')
    assert make_agent(agent.name).name == agent.name
    for seed in range(5):
        env.reset(seed=seed)
        agent.reset(seed)
        while not any(env.terminations.values()):
            env.step(agent.act(env))
        assert set(env.rewards.values()) == {0}


@pytest.mark.thorough
def test_the_seed_chooses_among_optimal_actions(tictactoe: str) -> None:
    agent = PolicyTableAgent(path=tictactoe)
    game = RulesGame(MNK())

    def opening(seed: int) -> int:
        agent.reset(seed)
        return agent.search_state(game).action

    assert {opening(seed) for seed in range(60)} == set(range(9))
    assert [opening(seed) for seed in range(10)] == [opening(seed) for seed in range(10)]


@pytest.mark.parametrize(
    "game",
    [TreeGame(AIMA_5_2), CoinRow((3, 9, 1, 2)), RulesGame(Hex(2, 2))],
    ids=["tree", "rewards on the way", "states of sets"],
)
def test_other_games(game: Any, tmp_path: Path) -> None:
    solve_policy(game, plan="full").save(tmp_path / "policy")
    agent = PolicyTableAgent(path=str(tmp_path / "policy"))
    state = game.initial_state()
    while not game.is_terminal(state):
        expected = MinimaxAgent().search_state(game, state)
        found = agent.search_state(game, state)
        assert found.values_by_seat == expected.values_by_seat
        assert found.best_actions == expected.best_actions
        state = game.result(state, found.action)


@pytest.mark.thorough
def test_keys_are_the_same_in_every_process() -> None:
    code = (
        "from zermelo.envs import as_game, make\n"
        "from zermelo.agents.solutions.policy_table import stable_key\n"
        "env = make('classic/tictactoe-v3'); env.reset(seed=0); env.step(4)\n"
        "for backend in ('auto', 'clone'):\n"
        "    game = as_game(env, backend=backend)\n"
        "    print(stable_key(game, game.snapshot(env)))\n"
    )
    runs = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert len(runs) == 1


def test_another_game_is_refused(tictactoe: str) -> None:
    with pytest.raises(InvalidSettingError, match=r"holds a policy for MNK\(m=3.*, not for MNK\(m=4"):
        PolicyTableAgent(path=tictactoe).search_state(MNK(m=4, n=3, k=3))


def test_a_position_that_is_not_there(tmp_path: Path) -> None:
    game = RulesGame(MNK())
    solve_policy(game, game.result(game.initial_state(), 0)).save(tmp_path / "plan")
    with pytest.raises(InvalidSettingError, match=r"no action for this position of MNK: .* plan for seat 1"):
        PolicyTableAgent(path=str(tmp_path / "plan")).search_state(game)


HEADER = {"format": "zermelo policy", "version": 3, "states": 1, "game": "g", "plan": "full", "seat": None}
HEADER |= {"is_hidden": False, "tolerance": 0.0, "values": [], "exploitability": None}
GOOD = [HEADER, ["0", None, {"0": 1.0}]]


def written(path: Path, lines: list[Any]) -> Path:
    """A file with these lines and the checksum that belongs to them."""
    header, *rest = (json.dumps(line).encode() for line in lines)
    write_lines(path, header, lambda: (line + b"\n" for line in rest))
    return path


@pytest.mark.parametrize("name", ["policy", "policy.gz"])
@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (GOOD[:1], "it has 0 states of 1"),
        ([*GOOD, ["1", None, {"0": 1.0}]], "more than 1 states"),
        ([HEADER | {"states": 2}, GOOD[1], GOOD[1]], "one of them twice"),
        ([HEADER, ["0", None, {"0": 0.7}]], "no probabilities"),
        ([HEADER, ["0", None, {"-1": 1.0}]], "no probabilities"),
        ([HEADER, ["0", None, {"x": 1.0}]], "invalid literal"),
        ([HEADER, ["0", None, {}]], "length >= 1"),
        ([HEADER, ["0", "1", {"0": 1.0}]], "Expected `float"),
        ([HEADER, "x"], "Expected `array`"),
        ([HEADER | {"version": 2}, GOOD[1]], "Invalid enum value 2"),
        ([HEADER | {"format": "other"}, GOOD[1]], "Invalid enum value 'other'"),
        ([HEADER | {"seat": -1}, GOOD[1]], "`int` >= 0"),
        ([HEADER | {"game": "\x1b[2J"}, GOOD[1]], "matching regex"),
        ([HEADER | {"tolerance": None}, GOOD[1]], "Expected `float`"),
    ],
)
def test_a_policy_that_is_none_is_refused_though_its_checksum_is_right(
    lines: list[Any], said: str, name: str, tmp_path: Path
) -> None:
    assert len(PolicyTable.load(written(tmp_path / name, GOOD))) == 1
    with pytest.raises(InvalidSettingError, match=f"is no policy, or it is damaged .*{said}"):
        PolicyTableAgent(path=str(written(tmp_path / name, lines)))


@pytest.mark.parametrize(
    "text", ["", "no json", "[1, 2]", '{"format": "other"}', json.dumps(HEADER), "{" * 99_999]
)
def test_a_file_that_is_no_policy(text: str, tmp_path: Path) -> None:
    (tmp_path / "policy").write_text(text)
    with pytest.raises(InvalidSettingError, match="it has no checksum"):
        PolicyTableAgent(path=str(tmp_path / "policy"))


@pytest.mark.parametrize("name", ["policy", "policy.gz"])
def test_each_byte_of_a_policy_counts(name: str, tmp_path: Path) -> None:
    solve_policy(Nim((1, 2)), plan="full").save(tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    table = PolicyTable.load(tmp_path / name)
    for place in range(0, len(whole), 7):
        (tmp_path / name).write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        try:
            assert PolicyTable.load(tmp_path / name) == table  # of gzip's own header nothing counts
            assert place < 40
            assert name.endswith(".gz")
        except InvalidSettingError:
            pass


def test_actions_that_are_not_legal_are_not_played(tmp_path: Path) -> None:
    game, path = RulesGame(Nim((1, 2))), tmp_path / "policy"
    table = solve_policy(game, plan="full")
    dataclasses.replace(table, entries={key: (None, {99: 1.0}) for key in table.entries}).save(path)
    with pytest.raises(InvalidSettingError, match=r"plays \[99\] in a position of Nim.* where \[.*\] are legal"):
        PolicyTableAgent(path=str(path)).search_state(game)
    dataclasses.replace(table, values=(0.0,)).save(path)
    with pytest.raises(InvalidSettingError, match=r"has 1 values, and Nim.* 2 players"):
        PolicyTableAgent(path=str(path)).search_state(game)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettingError, match="there is no policy"):
        PolicyTableAgent(path=str(tmp_path / "missing"))
    with pytest.raises(InvalidSettingError, match="path must name a file that"):
        PolicyTableAgent()
    with pytest.raises(InvalidSettingError, match="cannot be written"):
        solve_policy(Nim((1,))).save(tmp_path / "no folder" / "file")


@pytest.mark.parametrize(
    ("rules", "settings", "error", "message"),
    [
        (MNK(), {"plan": "half"}, InvalidSettingError, "plan must be one of"),
        (MNK(), {"seat": 2}, InvalidSettingError, "seat must be a number below 2"),
        (MNK(), {"most_states": 100}, UnsupportedGameError, "more than 100 states for a seat plan"),
        (Pig(), {}, UnsupportedGameError, "solve needs a game without chance"),
    ],
)
def test_games_and_settings_are_checked(
    rules: Any, settings: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        solve_policy(rules, **settings)


class Sticks(NamedTuple):
    left: int
    mover: int


class Take(NamedTuple):
    """Take one or two of five; who takes the last wins."""

    def num_actions(self):
        return 2

    def initial_state(self):
        return Sticks(5, 0)

    def to_move(self, state):
        return state[1]

    def legal_actions(self, state, actions):
        actions[0], actions[1] = 0, 1
        return min(state[0], 2)

    def result(self, state, action):
        return Sticks(state[0] - 1 - action, 1 - state[1])

    def is_terminal(self, state):
        return state[0] <= 0

    def utility(self, state, seat):
        return -1 if seat == state[1] else 1


def test_a_policy_of_other_rules_of_the_same_name_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "take.jsonl"
    solve_policy(Take(), plan="full").save(path)
    agent = make_agent(f"policytable(path={str(path)!r})")
    assert agent.search_state(RulesGame(Take())).proven
    monkeypatch.setattr(Take, "utility", lambda self, state, seat: 1 if seat == state[1] else -1)
    with pytest.raises(InvalidSettingError, match=r"was made by other rules.*: solve this game again"):
        agent.search_state(RulesGame(Take()))
    with pytest.raises(InvalidSettingError, match=r"the policy was made by other rules"):
        PolicyTable.load(path).check_game(RulesGame(Take()))


def test_a_policy_of_unknown_rules_proves_nothing(tmp_path):
    path = tmp_path / "take.jsonl"
    dataclasses.replace(solve_policy(Take(), plan="full"), rules=None).save(path)
    found = make_agent(f"policytable(path={str(path)!r})").search_state(RulesGame(Take()))
    assert not found.proven
    assert found.proven_actions == ()
