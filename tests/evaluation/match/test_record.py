"""Game records: what they hold, what they say, and their exact journey through JSON."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zermelo.envs.errors import InvalidSettingError
from zermelo.evaluation import GameRecord
from zermelo.evaluation.errors import StoreError
from zermelo.evaluation.match.record import EndReason, Failure, FailureKind, Move, versions
from zermelo.evaluation.match.score import SeatOutcome
from zermelo.evaluation.match.text import plain

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def a_record(**changes):
    settings = {
        "env": "toy",
        "agents": ("a", "b"),
        "seat_names": ("player_0", "player_1"),
        "seed": 7,
        "rewards": (1.0, -1.0),
        "end": EndReason.TERMINATED,
    }
    return GameRecord(**{**settings, **changes})


@pytest.mark.thorough
@given(
    actions=st.lists(VALUES, max_size=5),
    rewards=st.tuples(st.floats(allow_nan=False), st.floats(allow_nan=False)),
    seconds=st.floats(allow_nan=False),
    text=st.text(),
    nodes=st.none() | st.integers(),
)
def test_json_gives_back_an_equal_record(actions, rewards, seconds, text, nodes):
    moves = tuple(Move(i % 2, action, seconds, nodes, nodes, seconds) for i, action in enumerate(actions))
    failure = Failure(FailureKind.CRASH, 1, text, text)
    record = a_record(
        env=text, rewards=rewards, moves=moves, opening=tuple(actions), failure=failure, end=EndReason.FAILURE,
        seconds=seconds, game_id=text, versions={"python": text},
    )  # fmt: skip
    line = record.to_json()
    assert GameRecord.from_json(line) == record
    assert line.isascii()
    assert "\n" not in line


def test_json_is_standard_and_infinities_survive_it():
    record = a_record(rewards=(math.inf, -math.inf), moves=(Move(0, 1, value=math.inf), Move(1, 2)))
    line = record.to_json()
    json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    again = GameRecord.from_json(line)
    assert again.rewards == (math.inf, -math.inf)
    assert again.moves[0].value == math.inf
    assert again.moves[1].value is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.int8(3), 3),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("é"), "é"),
        (np.longdouble(2), 2.0),
        (np.array(4), 4),
        (np.array([[1, 2], [3, 4]]), ((1, 2), (3, 4))),
        ([1, (2, np.uint8(3))], (1, (2, 3))),
        ({"x": np.array([1.5])}, {"x": (1.5,)}),
        (EndReason.TRUNCATED, "truncated"),
    ],
)
def test_plain_values(value, expected):
    result = plain(value)
    assert result == expected
    assert not isinstance(result, np.generic | np.ndarray)
    record = a_record(moves=(Move(0, result),))
    assert GameRecord.from_json(record.to_json()) == record


def test_a_value_without_a_plain_form_is_refused():
    with pytest.raises(InvalidSettingError, match="not object"):
        plain(object())


@pytest.mark.parametrize("line", ["", "{}", "[1]", '{"schema": 1}', a_record().to_json()[:-5]])
def test_damaged_lines_are_refused(line):
    with pytest.raises(StoreError, match="not a game record"):
        GameRecord.from_json(line)


def test_a_record_of_a_newer_version_is_refused_in_a_sentence():
    newer = json.dumps({**json.loads(a_record().to_json()), "schema": 99})
    with pytest.raises(StoreError, match=r"newer zermelo.*99.*update"):
        GameRecord.from_json(newer)


@pytest.mark.parametrize(
    ("rewards", "offender", "scores", "outcomes"),
    [
        ((1, -1), None, (1, 0), "WL"),
        ((0, 0), None, (0.5, 0.5), "DD"),
        ((61, 60), None, (1, 0), "WL"),
        ((5, 0), 0, (0, 1), "LW"),
        ((0, 0), 1, (1, 0), "WL"),
        ((3, 2, 1), None, (1, 0.5, 0), "WLL"),
        ((2, 2, 1), None, (0.75, 0.75, 0), "DDL"),
        ((1, 1, 1), None, (0.5, 0.5, 0.5), "DDD"),
        ((9, 0, 0), 0, (0, 0.75, 0.75), "LDD"),
        ((4, 3, 2, 1), None, (1, 2 / 3, 1 / 3, 0), "WLLL"),
    ],
)
def test_scores_and_outcomes(rewards, offender, scores, outcomes):
    seats = len(rewards)
    failure = None if offender is None else Failure(FailureKind.CRASH, offender, "")
    record = a_record(
        agents=tuple("abcd"[:seats]), seat_names=tuple("wxyz"[:seats]), rewards=tuple(map(float, rewards)),
        failure=failure,
    )  # fmt: skip
    assert record.scores == pytest.approx(scores)
    assert sum(record.scores) == pytest.approx(seats / 2)
    letters = {"W": SeatOutcome.WIN, "D": SeatOutcome.DRAW, "L": SeatOutcome.LOSS}
    assert record.outcomes == tuple(letters[letter] for letter in outcomes)


def test_a_single_player_scores_its_return_and_has_no_outcome():
    record = a_record(agents=("a",), seat_names=("player",), rewards=(-13.5,))
    assert record.scores == (-13.5,)
    assert record.outcomes == ()


def test_a_game_that_the_environment_broke_counts_for_nobody():
    record = a_record(failure=Failure(FailureKind.ENVIRONMENT_ERROR, None, "fell over"))
    assert record.void
    assert record.scores == record.outcomes == ()


def test_without_timings_is_what_the_seed_decides():
    slow = a_record(moves=(Move(0, 1, 0.5),), seconds=2.0)
    fast = a_record(moves=(Move(0, 1, 0.1),), seconds=1.0)
    assert slow != fast
    assert slow.without_timings() == fast.without_timings()


def test_versions_name_the_package_and_python():
    assert {"zermelo", "python", "numpy"} <= versions().keys()
