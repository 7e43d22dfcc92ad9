"""Searches find what they found before: values, actions, lines and node counts at hundreds of positions.

The version before the searches were rebuilt wrote it. ``python -m oracles.signatures`` writes it anew; do so only
where a difference is meant, and say why here. So far: best reply in games with an ``ordering_hint``, where it had
left out the first opponent's usual move unless that was its first legal one; with two players its values are now
those of paranoid search. Late move reductions, which take up to three moves of depth off where they took one, in
Othello; plain and compiled searches agree on what they find now. Copies of PettingZoo's tic-tac-toe and connect
four have no evaluation any more, as their rules have one: they are searched with rewards.
Best reply of three players, where it left out a line of usual moves although the opponent that could have played
it first moves twice in it: the textbook function has the values that stand there now.
``solve`` searches all actions of a position together: the position is one node, not one for each action.
Selective searches prune and order by history that forgets, and have a table in quiescence. They do not ask whether
other root moves are as good as the best.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from oracles.signatures import FILE, cases, games, replayed, signature, together

CHANGED_NODES: Mapping[str, str] = {}
"""Where node counts have changed on purpose since the table was written: ``"game: agent"``, and the reason."""

CHANGED_LINES: Mapping[str, str] = {}
"""Where the principal variation has changed on purpose: ``"game: agent"``, and the reason."""

TABLE: dict[str, dict[str, Any]] = json.loads(FILE.read_text())
_LIMITED = ("depth", "stopped by", "nodes")
"""What is compared of searches that a limit stops half way: how they answer then has been mended."""
_FIELDS = ("action", "values", "action values", "line", "plies", "proven", "depth", "stopped by", "nodes")


@pytest.fixture(scope="module")
def built() -> dict[str, Any]:
    return games()


_SLOW = ("Pig(20) compiled", "Othello compiled", "Othello(4,4,margin) compiled", "Breakthrough(5,4) compiled",
         "MNK(4,3,3,players=3) compiled", "Nim(2,3,2,players=3) compiled", "Nim(2,3,4) compiled",
         "Nim(1,2,3,misere) compiled",
         "DotsAndBoxes(2,2,margin) compiled")  # fmt: skip
"""Compiled for these alone, which takes seconds each."""
_IN_PARTS = ("MNK(3,3,3) compiled", "Grown(1) compiled", "Grown(2) compiled")

every_game = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in _SLOW else name for name in TABLE]
)


@pytest.mark.thorough
@every_game
def test_searches_find_what_they_found(name: str, built: dict[str, Any]) -> None:
    # Another kernel for the same rules takes seconds of compiling: the slow test below has it.
    apart = ("maxn", "paranoid", "bestreply") if name in _IN_PARTS else ()
    compare(name, built[name], [agent for agent in cases(name) if not apart or not agent.startswith(apart)])


@pytest.mark.slow
@pytest.mark.parametrize("name", _IN_PARTS)
def test_searches_of_many_players_find_what_they_found_with_two(name: str, built: dict[str, Any]) -> None:
    compare(name, built[name], cases(name))


def compare(name: str, game: Any, agents: list[str]) -> None:
    table = TABLE[name]
    states = [replayed(game, moves) for moves in table["positions"]]
    assert set(agents) <= set(table), "an agent is missing from the table: write it anew"
    differences = []
    for agent in agents:
        for state, moves, expected in zip(states, table["positions"], table[agent], strict=True):
            if expected is None:
                continue
            found = signature(game, state, agent)
            if agent.startswith("solve("):
                wrong = [] if _same(found, expected) else [f"{found} is not {expected}"]
            else:
                wrong = list(_wrong(f"{name}: {agent}", agent, found, expected))
            differences += [f"{agent} after {moves}: {each}" for each in wrong]
    assert not differences, "\n".join(differences)


@every_game
def test_many_positions_at_once(name: str, built: dict[str, Any]) -> None:
    game, table = built[name], TABLE[name]
    for what, found in together(name, game, table["positions"]).items():
        assert _same(found, table[what]), (what, found, table[what])


def _wrong(case: str, agent: str, found: list[Any], expected: list[Any]) -> Any:
    for field, new, old in zip(_FIELDS, found, expected, strict=True):
        if (field == "nodes" and case in CHANGED_NODES) or ("nodes=" in agent and field not in _LIMITED):
            continue
        if field == "line":
            if case in CHANGED_LINES:
                continue
            # With a table a line may end sooner or later, as long as both go the same way.
            length = len(old) if "memory_mb=0" in agent else min(len(old), len(new))
            new, old = new[: max(length, len(new) if "memory_mb=0" in agent else length)], old[:length]
        if not _same(new, old):
            yield f"{field} {new} was {old}"


def _same(found: Any, expected: Any) -> bool:
    """Equal, but for the last digits of averages."""
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(_same, found, expected))
    if isinstance(expected, dict):
        return list(found) == list(expected) and all(_same(found[key], expected[key]) for key in expected)
    if isinstance(expected, float) and isinstance(found, float | int):
        return bool(found == pytest.approx(expected, abs=1e-10))
    return bool(found == expected) and (found is None) == (expected is None)
