"""Emulators are copied by the states that they save: right answers, the user's own untouched, lies refused."""

from __future__ import annotations

import itertools
import pickle
import threading
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from doubles.emulators import (
    BUTTONS,
    LENGTH,
    PLACE,
    BareEmulatorEnv,
    Chancy,
    Emulator,
    EmulatorEnv,
    Incomplete,
    OneMemory,
    OtherNames,
    best_total,
    next_place,
    started,
)

from zermelo.agents import ExpectiminimaxAgent, MCTSAgent, make_agent
from zermelo.envs import CloneError, as_game, clone_env, register_state, verify_clone
from zermelo.envs.clone.packing import packed
from zermelo.envs.clone.state_key import state_key
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.game import Chance

pytestmark = pytest.mark.filterwarnings("ignore::zermelo.envs.errors.UnknownTraitWarning")


@pytest.mark.parametrize("level", [1, 4])
def test_searches_find_what_all_ways_to_play_pay_and_leave_the_emulator_as_it_was(level: int) -> None:
    env = started(EmulatorEnv(level), [1, 2])
    emulator = env.unwrapped.emulator
    before = bytes(emulator.memory)
    best = best_total(level, emulator.memory[PLACE], frames=2)
    for agent in (ExpectiminimaxAgent(depth="full"), MCTSAgent(simulations=600)):
        result = agent.search(env)
        assert result.value == best
        assert bytes(emulator.memory) == before
    while True:  # and its moves get that
        _, paid, _, is_cut, _ = env.step(ExpectiminimaxAgent(depth="full").act(env))
        best -= paid
        if is_cut:
            break
    assert best == 0


def test_copies_show_their_own_screens_whatever_others_do() -> None:
    env = started(EmulatorEnv())
    one, other = clone_env(env), clone_env(env)
    shown_to_one, *_, about_one = one.step(1)
    place = next_place(1, 0, 1)
    for action in (2, 0, 1):
        other.step(action)
    assert about_one["screen"][PLACE] == shown_to_one[1][PLACE] == place
    assert one.unwrapped.emulator.screen()[PLACE] == place
    assert isinstance(one.unwrapped.emulator, Emulator)
    assert env.unwrapped.emulator.screen()[PLACE] == 0
    other.close()
    one.step(0)
    assert one.unwrapped.emulator.screen()[PLACE] == next_place(1, place, 0)


def test_keys_are_equal_where_memory_is() -> None:
    env = started(EmulatorEnv(), [1])
    one, other = clone_env(env), clone_env(clone_env(env))
    assert state_key(env) == state_key(one) == state_key(other)
    one.step(1)
    assert state_key(env) == state_key(other) != state_key(one)
    env.step(1)
    assert state_key(env) == state_key(one)


WRAPPED: dict[str, Callable[[Any], Any]] = {
    "bare": lambda env: env,
    "frame stack": lambda env: gymnasium.wrappers.FrameStackObservation(env, 3),
    "sticky actions": lambda env: gymnasium.wrappers.StickyAction(env, 0.4),
    "time limit": lambda env: gymnasium.wrappers.TimeLimit(env, 4),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_copies_go_on_as_the_original_with_wrappers_on(name: str) -> None:
    verify_clone(lambda: WRAPPED[name](EmulatorEnv(3)), games=3, max_steps=12)
    env = WRAPPED[name](EmulatorEnv(3))
    env.reset(seed=0)
    copy = clone_env(env)
    for action in (1, 2):
        shown, copied = env.step(action), copy.step(action)
        assert np.array_equal(shown[0], copied[0])
        assert shown[1:4] == copied[1:4]


class SavesItself(BareEmulatorEnv):
    """An environment that is the emulator."""

    def __init__(self) -> None:
        super().__init__(2, OtherNames)

    def get_state(self) -> Any:
        return self.emulator.frozen(), self.screens

    def set_state(self, state: Any) -> None:
        memory, self.screens = state
        self.emulator.thaw(memory)


@pytest.mark.thorough
def test_an_environment_may_save_itself() -> None:
    verify_clone(SavesItself, games=3, max_steps=12)
    env = started(SavesItself(), [0])
    best = best_total(2, env.unwrapped.emulator.memory[PLACE], frames=1)
    assert ExpectiminimaxAgent(depth="full").search(env).value == best


@pytest.mark.parametrize(
    ("machine", "reason"),
    [
        (Incomplete, "how another one goes on"),
        (OneMemory, "shares memory"),
        (OtherNames, "outside of Python"),
    ],
)
def test_what_does_not_hold_is_refused_in_a_sentence(machine: type[Emulator], reason: str) -> None:
    env = started(EmulatorEnv(1, machine), [1, 1])
    before = bytes(env.unwrapped.emulator.memory)
    with pytest.raises(CloneError, match=reason) as caught:
        make_agent("mcts(simulations=20)").act(env)
    assert "\n" not in str(caught.value)
    assert bytes(env.unwrapped.emulator.memory) == before
    with pytest.raises(CloneError):
        verify_clone(lambda: EmulatorEnv(1, machine), games=2, max_steps=12)


def test_an_environment_that_nobody_can_make_anew_is_refused_with_the_way_out() -> None:
    with pytest.raises(CloneError, match=r"env\.emulator is a .*no second one .*EzPickle.*register_state"):
        clone_env(started(BareEmulatorEnv()).env)


class Registered(OtherNames):
    pass


class RegisteredChance(Chancy):
    pass


register_state(Registered, Registered.frozen, Registered.thaw, arguments=lambda one: (one.memory[0],))
register_state(
    RegisteredChance, RegisteredChance.clone_state, RegisteredChance.restore_state, seed=RegisteredChance.seed
)


def test_classes_are_registered_with_how_they_save_and_are_made() -> None:
    env = started(BareEmulatorEnv(6, Registered), [2])
    best = best_total(6, env.unwrapped.emulator.memory[PLACE], frames=1)
    assert ExpectiminimaxAgent(depth="full").search(env).value == best
    with pytest.raises(InvalidSettingError, match="needs a class, not 3"):
        register_state(3, len, len)  # type: ignore[type-var,arg-type]


@pytest.mark.thorough
def test_registered_generators_are_seeded_by_searches_and_copied_by_clones() -> None:
    verify_clone(lambda: EmulatorEnv(1, RegisteredChance), games=3, max_steps=12)
    env = started(EmulatorEnv(1, RegisteredChance), [1])
    game = as_game(env)
    assert game.traits.chance is Chance.SAMPLED
    state = game.snapshot(env)
    place = env.unwrapped.emulator.memory[PLACE]
    generator = np.random.default_rng(0)
    after = [game.sample_result(state, 1, generator) for _ in range(400)]
    places = [int(one.env.unwrapped.emulator.screen()[PLACE]) for one in after]
    assert set(places) == {next_place(1, place, 1), next_place(1, place, 2)}
    assert 160 < places.count(next_place(1, place, 1)) < 240  # four standard deviations of 200
    one, other = (MCTSAgent(simulations=50, seed=3).search(env).action_values for _ in range(2))
    assert one == other


def test_threads_play_copies_at_the_same_time() -> None:
    env = started(EmulatorEnv(4))
    ways = list(itertools.product(range(BUTTONS), repeat=4))
    found: dict[tuple[int, ...], int] = {}

    def play(part: list[tuple[int, ...]]) -> None:
        for way in part:
            copy = clone_env(env)
            for action in way:
                seen, *_ = copy.step(action)
            found[way] = int(seen[1][PLACE])

    clone_env(env)
    threads = [threading.Thread(target=play, args=(ways[number::3],)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for way in ways:
        place = 0
        for action in way:
            place = next_place(4, place, action)
        assert found[way] == place
    assert len(found) == BUTTONS**4


def test_copies_are_sent_to_other_processes_as_their_state() -> None:
    copy = clone_env(started(EmulatorEnv(5), [1, 0]))
    sent = pickle.loads(packed(copy))
    assert state_key(sent) == state_key(copy)
    seen, *_ = sent.step(2)
    assert seen[1][PLACE] == next_place(5, next_place(5, next_place(5, 0, 1), 0), 2)
    assert state_key(sent) != state_key(copy)
    assert LENGTH - sent.get_wrapper_attr("_elapsed_steps") == 3
