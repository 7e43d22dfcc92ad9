"""What play did not show is assumed, said with its evidence, proves nothing, and is watched by every search."""

from __future__ import annotations

import json
import os
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from doubles.assumed_envs import Bonus, BothSides, LateMines, LateTable, Line, Pick, Queue, Solo, bonus_values

from zermelo.agents import AlphaBetaAgent, make_agent, solve
from zermelo.envs import UnsupportedGameError, as_game
from zermelo.envs.adapters.foretold import Foretold
from zermelo.envs.errors import UnknownTraitWarning, forget_warnings
from zermelo.envs.game import Chance, Information, RewardSum, TraitSource
from zermelo.envs.traits import findings
from zermelo.envs.traits.origin import origin_of

pytestmark = [
    pytest.mark.filterwarnings("ignore::zermelo.envs.errors.UnknownTraitWarning"),
    pytest.mark.usefixtures("seen_by_nobody"),
]

PLAYED = ("chance", "information", "reward_sum", "terminal_rewards_only")


def started(cls: type[Any], **options: Any) -> Any:
    """An environment of a class of its own, looked at from its usual start, which the options are to change."""
    env = type(cls.__name__, (cls,), {})()
    env.reset(seed=0)
    if options:
        as_game(env)
        env.reset(seed=0, options=options)
    return env


# Rare pay


def test_nothing_but_zeros_is_no_sum() -> None:
    traits = as_game(started(Line)).traits
    assert traits.reward_sum is RewardSum.ZERO
    assert traits.source("reward_sum") is TraitSource.ASSUMED
    assert traits.evidence["reward_sum"].is_thin
    assert "no payoff in " in traits.evidence["reward_sum"].text


@pytest.mark.parametrize(
    "spec", ["alphabeta(depth=6)", "minimax(depth=6)", "mcts(simulations=300)", "auto(seconds=0.4)"]
)
def test_players_who_should_cooperate_do(spec: str) -> None:
    env = started(Line, place=37)
    agent = make_agent(spec)
    while not any(env.terminations.values()):
        result = agent.search(env)
        assert not result.proven
        env.step(result.env_action)
    assert env.place == Line.goal
    assert result.value == pytest.approx(1.0, abs=0.05)


def test_alpha_beta_says_that_another_search_answered_and_how_deep() -> None:
    env = started(Line, place=37)
    with pytest.warns(UnknownTraitWarning, match=r"a step paid \(1, 1\)\): searched by maxn instead of alphabeta"):
        result = AlphaBetaAgent(depth=6).search(env)
    assert "to depth" in result.note
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = AlphaBetaAgent(depth=6).search(env)  # said once
    assert again.note == result.note
    assert as_game(env).traits.source("reward_sum") is TraitSource.SEEN
    other = type(env)()  # which might be another configuration
    other.reset(seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = AlphaBetaAgent(depth=2).search(other)  # said once for the class: the result says it again
    assert "searched by maxn instead of alphabeta" in found.note
    forget_warnings()
    with pytest.warns(UnknownTraitWarning, match="is searched by what play of its class has shown"):
        AlphaBetaAgent(depth=2).search(other)


def test_no_more_nodes_than_the_search_would_have_had() -> None:
    env, told = started(Line, place=37), started(Line, place=37)
    would = AlphaBetaAgent(
        depth=8, traits={"reward_sum": "zero_sum", "chance": "deterministic", "information": "perfect"}
    ).search(told)
    assert AlphaBetaAgent(depth=8).search(env).nodes <= would.nodes


@pytest.mark.parametrize("spec", ["alphabeta(depth='full', exact=True)", "alphabeta(depth=5)", "minimax(depth=5)"])
def test_a_bonus_that_random_play_never_meets_is_counted(spec: str) -> None:
    env = started(Bonus)
    for _ in range(20):
        env.step(2)
    right = bonus_values(env)
    result = make_agent(spec).search(env)
    assert result.env_action == max(right, key=right.__getitem__)
    assert result.value == max(right.values())
    if result.actions_tried == len(result.action_values):
        assert result.action_values == right


# Late chance


@pytest.mark.parametrize("spec", ["mcts(simulations=300)", "expectiminimax(depth=2, samples=200)"])
def test_chance_that_comes_late_is_seen_by_the_search_that_meets_it(spec: str) -> None:
    env = started(LateTable, place=LateTable.far)
    assert as_game(env).traits.source("chance") is TraitSource.ASSUMED
    result = make_agent(spec).search(env)
    assert result.env_action == 0
    assert result.value == 10.0
    traits = as_game(env).traits
    assert (traits.chance, traits.source("chance")) == (Chance.SAMPLED, TraitSource.SEEN)


def test_states_share_generators_only_while_zermelo_looks_that_no_step_draws() -> None:
    def shares(env: Any, **given: Any) -> bool:
        game = as_game(env, **given)
        state = game.initial_state(0)
        return bool(game.result(state, 0).env.np_random is state.env.np_random)

    env = started(LateTable, place=LateTable.far)
    assert shares(env)
    assert not shares(env, traits={"chance": "deterministic"})  # who says so may want to foresee
    make_agent("mcts(simulations=100)").search(env)
    assert as_game(env).traits.source("chance") is TraitSource.SEEN
    assert not shares(env)


def test_a_search_that_cannot_have_chance_is_answered_for() -> None:
    env = started(LateTable, place=LateTable.far)
    actions = [make_agent(f"best_first(seconds=1.0, seed={seed})").act(env) for seed in range(2)]
    assert actions == [0, 0]


def test_the_process_draws_on_where_a_search_has_drawn() -> None:
    class Global(LateTable):
        def play(self, action: int) -> tuple[float, bool]:
            if self.place >= self.far and action:
                return random.choice([0.0, 8.0]) + float(np.random.randint(2)), True  # noqa: NPY002 - as strangers do
            return super().play(action)

    env = started(Global, place=LateTable.far)
    as_game(env)
    random.seed(5)
    np.random.seed(5)  # noqa: NPY002 - as above
    before = random.getstate(), np.random.get_state()[1].tobytes()  # noqa: NPY002 - as above
    assert make_agent("mcts(simulations=100)").act(env) == 0
    assert as_game(env).traits.chance is Chance.SAMPLED
    assert (random.getstate(), np.random.get_state()[1].tobytes()) == before  # noqa: NPY002 - as above


# Hidden things


def test_mines_that_are_laid_after_the_first_move_are_hidden() -> None:
    env = started(LateMines)
    traits = as_game(env).traits
    assert (traits.information, traits.source("information")) == (Information.HIDDEN, TraitSource.SEEN)
    assert traits.chance is Chance.SAMPLED
    with pytest.warns(UnknownTraitWarning, match="hides something from its players"):
        result = make_agent("mcts(simulations=50)").search(env)
    assert "information: hidden (the search sees it all the same)" in result.assumed
    other = type(env)()
    other.reset(seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = make_agent("mcts(simulations=50)").search(other)  # said once for the class
    assert again.assumed == result.assumed
    changed = type("Changed", (type(env),), {})()
    changed.reset(seed=1)
    with pytest.warns(UnknownTraitWarning, match="hides something from its players") as said:
        make_agent("mcts(simulations=50)").search(changed)
    assert said[0].filename == __file__


def test_a_list_that_is_shown_is_not_hidden() -> None:
    env = started(Queue)
    traits = as_game(env).traits
    assert traits.drawn_again == ()
    assert traits.chance is Chance.NONE
    total, over = 0.0, False
    best = sum(sorted(env.queue)[-2:])
    while not over:
        _, paid, over, *_ = env.step(make_agent("expectiminimax(depth=6)").act(env))
        total += paid
    assert total == best


# Other configurations


def payers(tmp_path: Path) -> dict[str, tuple[type[Any], Any, Any]]:
    """A class, and functions that make it pay one against the other, and both."""
    state = {"both": False}

    class ByGlobal(Pick):
        def decide(self) -> bool:
            return state["both"]

    class ByClass(Pick):
        both = False

        def decide(self) -> bool:
            return type(self).both

    class ByVariable(Pick):
        def decide(self) -> bool:
            return os.environ.get("PICK_BOTH") == "1"

    class ByFile(Pick):
        def decide(self) -> bool:
            return bool(json.loads((tmp_path / "pick.json").read_text()))

    class ByOption(Pick):
        def decide(self) -> bool:
            return "both" in self.options

    class ByFunction(Pick):
        def __init__(self) -> None:
            super().__init__()
            self.asked = lambda: state["both"]

        def decide(self) -> bool:
            return self.asked()

    def write(both: bool) -> None:
        (tmp_path / "pick.json").write_text(json.dumps(both))

    return {
        "global": (ByGlobal, lambda: state.update(both=False), lambda: state.update(both=True)),
        "class": (ByClass, lambda: setattr(ByClass, "both", False), lambda: setattr(ByClass, "both", True)),
        "variable": (
            ByVariable,
            lambda: os.environ.pop("PICK_BOTH", None),
            lambda: os.environ.update(PICK_BOTH="1"),
        ),
        "file": (ByFile, lambda: write(False), lambda: write(True)),
        "option": (ByOption, dict, lambda: {"both": True}),
        "function": (ByFunction, lambda: state.update(both=False), lambda: state.update(both=True)),
    }


@pytest.mark.parametrize("how", ["global", "class", "variable", "file", "option", "function"])
def test_findings_of_one_configuration_prove_nothing_of_another(how: str, tmp_path: Path) -> None:
    cls, opposed, both = payers(tmp_path)[how]
    plays: list[Any] = []
    for change in (opposed, both, opposed, both):
        options = change()
        env = cls()
        env.reset(seed=0, options=options if isinstance(options, dict) else None)
        env.step(0)
        result = AlphaBetaAgent().search(env)
        assert not result.proven
        plays.append((result.env_action, result.value))
    # The second player moves second and last: alone it wants all; the first one wants nothing of that.
    assert plays[1] == plays[3] == (2, 6.0)
    assert plays[0] == plays[2]
    assert plays[0][1] == -2.0
    os.environ.pop("PICK_BOTH", None)


# Several sides in one environment


@pytest.mark.parametrize("spec", ["auto", "mcts(simulations=50)", "greedy"])
def test_an_environment_that_plays_both_sides_is_not_played_for_one(spec: str) -> None:
    env = started(BothSides)
    with pytest.raises(UnsupportedGameError, match=r"its current_player changes .*'one_side': True"):
        make_agent(spec).act(env)
    told = type("Told", (BothSides,), {"zermelo_traits": {"one_side": True}})()
    told.reset(seed=0)
    assert make_agent(spec).act(told) in (0, 1, 2)


@pytest.mark.parametrize("cls", [Line, Bonus])
def test_a_search_to_a_small_depth_costs_few_random_lines(cls: type[Any]) -> None:
    """Random lines are played before the first search of a game; later ones add few to their nodes."""

    class Counted(cls):  # type: ignore[misc]
        steps = 0

        def play(self, me: Any, other: Any, action: int) -> tuple[float, float, bool]:
            type(self).steps += 1
            paid: tuple[float, float, bool] = super().play(me, other, action)
            return paid

    env = started(Counted)
    agent = AlphaBetaAgent(depth=1)
    agent.search(env)
    before = Counted.steps
    for _ in range(5):
        assert agent.search(env).nodes
    assert Counted.steps - before <= 25


def saying(name: str, values: Any) -> Any:
    """Nim for both sides, which says under a name whose move it is."""

    class Says(Solo):
        actions, shown = 3, 1

        def start(self, options: dict[str, Any]) -> None:
            self.sticks = 9
            setattr(self, name, values[0])

        def play(self, action: int) -> tuple[float, bool]:
            self.sticks -= action + 1
            setattr(self, name, values[self.moves % 2])
            return float(self.sticks <= 0), self.sticks <= 0

    return Says


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("next_player_to_play", (1, -1)),
        ("currentPlayerIndex", (0, 1)),
        ("is_white_to_move", (True, False)),
        ("_turn_player", ("black", "white")),
        ("player", (1, -1)),
        ("side", ("north", "south")),
        ("current_color", ("white", "black")),
    ],
)
def test_sides_are_known_by_the_words_of_a_name(name: str, values: Any) -> None:
    with pytest.raises(UnsupportedGameError, match=f"its {name} changes from step to step"):
        as_game(started(saying(name, values)))


class Walks(Solo):
    """A walk to and fro, which calls its cell something that could be a side, and pieces have colours."""

    def start(self, options: dict[str, Any]) -> None:
        self.player = self.agent = 0
        self.current_color = self.next_color = int(self.np_random.integers(2))
        self.current_player_position = self.turns = self.player_health = self.active_piece = 0

    def play(self, action: int) -> tuple[float, bool]:
        self.player = self.agent = min(max(self.player + (1 if action else -1), -2), 2)
        self.current_color, self.next_color = self.next_color, int(self.np_random.integers(2))
        self.current_player_position = self.player_health = self.active_piece = self.moves % 2
        self.turns += 1
        return 0.0, self.moves == 9


def test_one_player_whose_attributes_could_be_sides_is_searched() -> None:
    assert make_agent("mcts(simulations=4)").act(started(Walks)) in (0, 1)


def test_a_count_of_turns_is_no_side() -> None:
    class Counted(LateTable):
        def play(self, action: int) -> tuple[float, bool]:
            self.turn = self.moves
            return super().play(action)

    assert make_agent("greedy").act(started(Counted)) in (0, 1)


# What came beside what was foretold


def test_a_real_step_that_leads_elsewhere_than_its_copy_is_chance() -> None:
    class Weather(LateTable):
        """Draws from the system only where the environment is the real one."""

        real = False

        def play(self, action: int) -> tuple[float, bool]:
            self.place = self.place + 1 + (7 if self.real else 0)
            return 0.0, self.moves >= 20

    env = started(Weather)
    assert as_game(env).traits.chance is Chance.NONE
    for is_real in (False, True):
        type(env).real = False
        foretold = Foretold.of(env, 1)
        assert foretold is not None
        type(env).real = is_real
        assert bool(foretold.compare(env, env.step(1))) is is_real
    traits = as_game(env).traits
    assert (traits.chance, traits.source("chance")) == (Chance.SAMPLED, TraitSource.SEEN)
    assert "a step led elsewhere than its copy" in traits.evidence["chance"].text
    assert Foretold.of(env, 1) is None  # there is nothing left to see


def test_an_agent_that_is_asked_again_sees_what_came() -> None:
    class Gusts(LateTable):
        """From the eighth move on the wind comes from the system, which no generator shows."""

        def play(self, action: int) -> tuple[float, bool]:
            self.place += 1 if self.moves < 8 else random.SystemRandom().randrange(1000)
            return 0.0, self.moves >= 12

    env = started(Gusts)
    agent = make_agent("mcts(simulations=5)")
    as_game(env, traits={"chance": "deterministic"})
    findings.remember(origin_of(env), findings.Findings(needed=PLAYED, games=9, steps=90, pairs=9))
    over = False
    while not over:
        _, _, over, *_ = env.step(agent.act(env))
    assert as_game(env).traits.source("chance") is TraitSource.SEEN


def test_what_is_assumed_is_said_with_its_evidence_and_proves_nothing() -> None:
    env = started(Pick)
    result = AlphaBetaAgent(depth="full").search(env)
    assert not result.proven
    assert any(text.startswith("chance: deterministic (no chance in ") for text in result.assumed)
    assert "rests on: " in str(result)
    assert not solve(env).proven
