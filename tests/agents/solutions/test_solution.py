"""Solutions as text."""

from zermelo.agents import solve
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.solutions.solution import Outcome, Solution


def solution(**changes):
    settings = {
        "seat": 0, "value": 1.0, "value_bounds": (1.0, 1.0), "outcome": Outcome.FIRST, "plies": 9,
        "action_values": {2: -1.0, 3: 1.0, 4: 0.0, 5: 1.0}, "action_plies": {2: 8, 3: 9}, "nodes": 1234,
        "principal_variation": (3, 1, 4), "seconds": 0.25, "proven": True,
    }  # fmt: skip
    return Solution(**(settings | changes))


def test_a_printed_solution_says_who_wins_and_what_each_action_is_worth():
    assert str(solution()).splitlines() == [
        "first wins, 9 plies to the end, value 1 for seat 0, proven",
        "",
        "action  value  plies",
        "────────────────────",
        "     3      1      9",
        "     5      1",
        "     4      0",
        "     2     -1      8",
        "",
        "principal variation 3 1 4",
        "1,234 nodes, 0.25 s; stopped by: completed",
    ]
    assert repr(solution()) == "<Solution: first wins, 9 plies to the end, value 1 for seat 0, proven>"


def test_an_unfinished_solution_prints_its_bounds():
    found = solution(
        value=None, value_bounds=(-1.0, 0.5), outcome=None, plies=None, action_values={}, action_plies={},
        principal_variation=(), proven=False, stopped_by=StoppedBy.NODES,
    )  # fmt: skip
    assert str(found) == "value -1 to 0.5 for seat 0, not proven\n1,234 nodes, 0.25 s; stopped by: nodes"


def test_long_solutions_are_cut():
    found = solution(
        action_values=dict.fromkeys(range(361), 0.0), action_plies={}, principal_variation=tuple(range(1500))
    )
    lines = str(found).splitlines()
    assert max(map(len, lines)) < 150
    assert len(lines) < 30
    assert "and 341 more" in lines
    assert lines[-2].endswith(" and 1,464 more")


def test_policies_are_printed_by_seat():
    assert "information states" in str(solve("zermelo/Kuhn-v0"))
    text = str(solve("zermelo/Goofspiel-v0(cards=3)"))
    assert "policy of seat 0: " in text
    assert "policy of seat 1: " in text
