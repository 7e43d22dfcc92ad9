"""Rules keep their contract, compiled and uncompiled, and broken ones are told what is wrong."""

from __future__ import annotations

import importlib
import math
import re
from typing import Any, NamedTuple

import numpy as np
import pytest
from doubles.checked import assert_keeps_contract
from doubles.own_rules import Piglike

from zermelo.envs import Game, check_rules, perft
from zermelo.envs.adapters.as_game import as_game
from zermelo.envs.errors import IllegalActionError, RulesError
from zermelo.envs.games import MNK, ConnectFour
from zermelo.envs.jit.compiling import can_compile
from zermelo.envs.rules import RulesGame, bits, is_rules


class HeapState(NamedTuple):
    left: int
    mover: int


class Heap(NamedTuple):
    """Take one, two or three; who takes the last wins."""

    start: int = 9

    def num_actions(self) -> int:
        return 3

    def initial_state(self) -> HeapState:
        return HeapState(self.start, 0)

    def to_move(self, state: HeapState) -> int:
        return state.mover

    def legal_actions(self, state: HeapState, actions: list[int]) -> int:
        count = min(state.left, 3)
        for action in range(count):
            actions[action] = action
        return count

    def result(self, state: HeapState, action: int) -> HeapState:
        return HeapState(state.left - action - 1, 1 - state.mover)

    def is_terminal(self, state: HeapState) -> bool:
        return state.left == 0

    def utility(self, state: HeapState, seat: int) -> int:
        return -1 if seat == state.mover else 1


def test_chance_outcomes_have_numbers_of_their_own() -> None:
    def from_two(self: Any, state: Any, outcomes: list[int], probabilities: list[float]) -> int:
        outcomes[0] = 2
        probabilities[0] = 1.0
        return 1

    broken = type(
        "Broken", (Piglike,), {"__slots__": (), "num_outcomes": lambda self: 2, "chance_outcomes": from_two}
    )
    with pytest.raises(RulesError, match=r"Broken\.chance_outcomes at .*2 is no outcome: num_outcomes\(\) is 2"):
        check_rules(broken(), games=1)


@pytest.mark.thorough
def test_good_rules_pass() -> None:
    assert_keeps_contract(Heap())
    assert_keeps_contract(_broken(pass_turn=_passed))
    assert_keeps_contract(MNK(), games=3)
    assert_keeps_contract(MNK(m=4, n=3, k=3), games=2)
    assert_keeps_contract(ConnectFour(rows=4, columns=5), games=3)


def _broken(**methods: Any) -> Any:
    """Heap, with some of its methods replaced."""
    return type("Broken", (Heap,), {"__slots__": (), **methods})()


def _halves(self: Any, state: HeapState, action: int) -> HeapState:
    return HeapState(state.left - action - 1, (1 - state.mover) / 1)  # type: ignore[arg-type]  # the point of the test


def _descending(self: Any, state: HeapState, actions: list[int]) -> int:
    count = min(state.left, 3)
    for action in range(count):
        actions[action] = count - 1 - action
    return count


def _none_at_four(self: Any, state: HeapState, actions: list[int]) -> int:
    if state.left == 4:
        return 0
    actions[0] = 0
    return 1


def _overflowing(self: Any, state: HeapState) -> int:
    return (state.left + 7) * 3037000500 * 3037000500 % 1000003


def _by_half(self: Any, state: HeapState) -> int:
    return state.left // 4


def _both_win(self: Any, state: HeapState, seat: int) -> int:
    return 1


def _many(self: Any, state: HeapState, seat: int) -> int:
    return -7 if seat == state.mover else 7


def _third_player(self: Any, state: HeapState) -> int:
    return 2


def _sum(self: Any, state: HeapState) -> tuple[int, int]:
    return (2047, 2047)


def _upside_down(self: Any, state: HeapState, symmetry: int) -> HeapState:
    return HeapState(state.left, 1 - state.mover) if symmetry else state


def _passed(self: Any, state: HeapState) -> HeapState:
    return HeapState(state.left, 1 - state.mover)


def _not_passed(self: Any, state: HeapState) -> HeapState:
    return HeapState(state.left + 1, state.mover)


def _two(self: Any) -> int:
    return 2


def _prior_missing(self: Any, state: HeapState, actions: Any, count: int, priors: Any) -> int:
    priors[0] = 1.0
    return count


def _prior_without_end(self: Any, state: HeapState, actions: Any, count: int, priors: Any) -> int:
    for index in range(count):
        priors[index] = 1.0 if state.left > 3 else math.inf
    return count


def _same(self: Any, action: int, symmetry: int) -> int:
    return action


def _raises(self: Any, state: HeapState) -> bool:
    if state.left < 4:
        raise ValueError("too few")
    return False


def _sorted_text(self: Any, state: HeapState) -> bool:
    shown = sorted(str(state.left), key=ord)
    return shown == ["0"] and bool(eval("True"))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("methods", "said"),
    [
        ({"result": _halves}, r"Broken\.result.*mover is 1\.0|Broken\.result gives"),
        ({"legal_actions": _descending}, r"Broken\.legal_actions at HeapState\(.*not in ascending order"),
        ({"legal_actions": _none_at_four}, r"Broken\.legal_actions at HeapState\(left=4.*no legal action"),
        ({"key": _overflowing}, r"Broken\.key at HeapState\(.*compiled it gives .* uncompiled"),
        ({"key": _by_half}, r"Broken\.key at HeapState\(.*also the key of HeapState\("),
        (
            {"utility": _both_win},
            r"Broken\.utility at HeapState\(left=0.*together got 2, but utility_sum\(\) is 0",
        ),
        ({"utility": _many}, r"Broken\.utility at HeapState\(left=0.*outside utility_bounds"),
        ({"to_move": _third_player}, r"Broken\.to_move at HeapState\(.*2 is neither a seat"),
        ({"bounds": _sum}, r"Broken\.bounds at HeapState\("),
        (
            {"symmetries": _two, "symmetric_state": _upside_down, "symmetric_action": _same},
            r"Broken\.symmetric_state at HeapState\(left=0",
        ),
        ({"num_actions": _two}, r"Broken\.legal_actions at .*IndexError"),
        ({"pass_turn": _not_passed}, r"Broken\.pass_turn at HeapState\(.*seat 0 is to move again"),
        ({"pass_turn": lambda self, state: 0}, r"Broken\.pass_turn"),
        ({"continues_move": lambda self, state: True}, r"of the first state, to which no action leads"),
        ({"continues_move": lambda self, state: state.left == 2}, r"where seat [01] is no longer to move"),
        ({"mirror_image": _not_passed}, r"Broken\.mirror_image at HeapState\(.*whose image is another position"),
        ({"mirror_image": lambda self, state: HeapState(state.left ^ 1, state.mover)}, r"play is not the same"),
        ({"action_priors": _prior_missing}, r"Broken\.action_priors at HeapState\(.*wrote \[1\.0, nan, nan\]"),
        ({"action_priors": _prior_without_end}, r"Broken\.action_priors at HeapState\(left=[23].*wrote \[inf"),
        ({"is_terminal": _raises}, r"Broken\.is_terminal at HeapState\(left=\d.*raised ValueError: too few"),
    ],
)
def test_broken_rules_are_told_the_method_the_state_and_the_difference(methods: dict[str, Any], said: str) -> None:
    with pytest.raises(RulesError, match=said):
        check_rules(_broken(**methods))


@pytest.mark.thorough
def test_rules_that_do_not_compile_are_told_the_method_and_the_line() -> None:
    line = _sorted_text.__code__.co_firstlineno
    with pytest.raises(RulesError) as caught:
        perft(_broken(is_terminal=_sorted_text), 5)
    said = str(caught.value)
    assert re.match(
        rf"Broken\.is_terminal \(line ({line + 1}|{line + 2}) of test_check_rules\.py\) does not", said
    )
    assert "\n" not in said
    assert len(said) < 300


def test_a_missing_method_is_named() -> None:
    class Nothing(NamedTuple):
        size: int = 3

        def initial_state(self) -> HeapState:
            return HeapState(0, 0)

    with pytest.raises(RulesError, match="Nothing has no num_actions, to_move, legal_actions"):
        as_game(Nothing())


def test_a_class_is_no_rules() -> None:
    with pytest.raises(RulesError, match=r"^Heap is a class: make rules of it, as in Heap\(\)$"):
        check_rules(Heap)


def test_parameters_are_integers() -> None:
    with pytest.raises(RulesError, match=r"Heap\.start must be an integer, not 2\.5"):
        as_game(Heap(start=2.5))  # type: ignore[arg-type]  # the point of the test


def test_rules_are_a_game() -> None:
    game: Game[Any] = as_game(ConnectFour(rows=5))
    assert game == RulesGame(ConnectFour(rows=5))
    assert hash(game) == hash(RulesGame(ConnectFour(rows=5)))
    assert game != RulesGame(ConnectFour())
    assert game.traits.name == "ConnectFour(rows=5)"
    assert game.traits.seats == 2
    assert game.traits.num_actions == 7
    state = game.initial_state()
    assert game.legal_actions(state) == list(range(7))
    assert game.utility(state) == (0.0, 0.0)
    for action in (3, 2, 3, 2, 3, 2, 3):
        state = game.result(state, action)
    assert game.is_terminal(state)
    assert game.legal_actions(state) == []
    assert game.utility(state) == (1.0, -1.0)
    with pytest.raises(IllegalActionError, match="7 is not legal in ConnectFour"):
        game.result(game.initial_state(), 7)
    assert is_rules(ConnectFour())
    assert not is_rules(ConnectFour)
    assert not is_rules((1, 2))


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3))
def test_bits_mean_the_same_compiled(seed: int) -> None:
    numba = pytest.importorskip("numba")
    if not can_compile():
        pytest.skip("nothing is compiled here")
    importlib.import_module(
        "zermelo.envs.jit.extensions.instructions"
    )  # which rules that are read from disk do without

    @numba.njit  # type: ignore[untyped-decorator]  # Numba has no types
    def compiled(x: int, n: int) -> tuple[int, int, int, int]:
        return bits.popcount(x), bits.bit_index(x), bits.shift_right(x, n), bits.mix(x)

    generator = np.random.default_rng(seed)
    numbers = [0, 1, -1, 1 << 62, -(1 << 63), *map(int, generator.integers(-(1 << 63), (1 << 63) - 1, 200))]
    for number in numbers:
        places = int(generator.integers(0, 64))
        plain = (
            bits.popcount(number),
            bits.bit_index(number),
            bits.shift_right(number, places),
            bits.mix(number),
        )
        assert compiled(number, places) == plain, (seed, number, places)
