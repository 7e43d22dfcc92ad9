"""Planes that overlap: pieces upon pieces, each of which counts."""

from __future__ import annotations

import json

import numpy as np
import pytest
from doubles.stacks import StackingGame, Stacks

from zermelo.agents.evaluators.fitted.feature_sets import features_from
from zermelo.agents.evaluators.fitted.layers import boards_of, kinds_on, layers_of, merged
from zermelo.agents.evaluators.fitted.patterns import PatternFeatures
from zermelo.agents.learning.tuning.symmetries import seat_turns, with_symmetries

GAME = StackingGame()


def some_states(games: int) -> list[Stacks]:
    generator, found = np.random.default_rng(1), []
    for _ in range(games):
        state = Stacks()
        while not GAME.is_terminal(state):
            found.append(state)
            state = GAME.result(state, int(generator.choice(GAME.legal_actions(state))))
    return found


SMALL, LARGE = ((0,), (1,), (3,), (4,)), ((2,), (5,))


def test_planes_that_overlap_are_in_different_layers() -> None:
    states = some_states(60)
    features = PatternFeatures.fitting(GAME, states)
    assert features.layers == (SMALL, LARGE)
    assert features.planes == ()
    assert features.boards == [15]
    seen = np.stack([GAME.observation(state, state.mover) for state in states])
    assert len(layers_of(seen[..., :2], (0, 1))) == 1
    assert features_from(json.loads(json.dumps({"kind": "patterns", **features.settings()}))) == features


@pytest.mark.parametrize("together", [True, False])
def test_what_is_covered_counts_and_so_does_what_covers_it(
    together: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zermelo.agents.evaluators.fitted.layers._MOST_TOGETHER", 40 if together else 1)
    features = PatternFeatures.fitting(GAME, some_states(60))
    assert len(features.boards) == (1 if together else 2)
    small, large, both = (
        Stacks(places) for places in ((0, -1, -1, -1, -1, -1), (-1, -1, 0, -1, -1, -1), (0, -1, 0, -1, -1, -1))
    )
    entries = features.entries(GAME, [small, large, both, both])
    found = [set(entries.indices[a:b].tolist()) for a, b in zip(entries.starts, entries.starts[1:], strict=False)]
    assert found[2] == found[3]
    assert len({frozenset(each) for each in found}) == 3
    if not together:
        assert found[2] & found[0] - found[1]
        assert found[2] & found[1] - found[0]
    assert 0 <= entries.indices.min() <= entries.indices.max() < features.size


def test_kinds_of_cells_by_hand() -> None:
    seen = np.zeros((1, 1, 3, 6), np.int8)
    seen[0, 0, 1, [4, 2]] = 1
    seen[0, 0, 2, 1] = 1
    assert kinds_on(seen, (SMALL, LARGE)).tolist() == [[0, 4 + 5 * 1, 2]]
    assert boards_of((SMALL, LARGE)) == [15]
    assert boards_of((SMALL, SMALL, LARGE)) == [5, 5, 3]
    assert kinds_on(seen, (SMALL, SMALL, LARGE)).tolist() == [[0, 4, 2, 0, 4, 2, 0, 1, 0]]


def test_pieces_of_one_kind_count_as_one() -> None:
    """Found in how games go on: to exchange the small pieces of both players changes nothing."""
    states = some_states(60)
    features = PatternFeatures.fitting(GAME, states)
    found = with_symmetries(features, GAME, Stacks(), states, np.random.default_rng(1))
    assert isinstance(found, PatternFeatures)
    assert found.layers == (((0, 1), (3, 4)), LARGE)
    assert found.boards == [9]
    assert found.turns == (0, 1)
    assert seat_turns(found, GAME, Stacks(), np.random.default_rng(1)) == (0, 2, 3)
    one, two = (Stacks((a, b, -1, -1, 3, -1)) for a, b in ((0, 1), (1, 0)))
    assert np.array_equal(found.entries(GAME, [one]).indices, found.entries(GAME, [two]).indices)
    assert merged((SMALL, LARGE), [(0, 1), (1, 3), (0, 2)]) == (((0, 1, 3), (4,)), LARGE)
