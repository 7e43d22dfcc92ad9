"""The score of Go as an evaluation."""

import numpy as np
import pytest
from doubles.small_games import CoinRow

from zermelo.agents.evaluators.protocol import squash
from zermelo.agents.evaluators.registry import default_evaluator, make_evaluator
from zermelo.envs import UnsupportedGameError, as_game, make


def test_other_games_have_no_go_board():
    game = CoinRow([1, 2])
    with pytest.raises(UnsupportedGameError, match=r"'go' cannot find a Go board in a row of coins"):
        make_evaluator("go")(game, game.initial_state())


def test_go_area():
    # Black's stones are 6, 8 and 12, white's is 18; white then passes twice (25).
    env = make("classic/go-v5", board_size=5, komi=0.5)
    env.reset(seed=0)
    for action in (6, 18, 8, 25, 12, 25):
        env.step(action)
    game = as_game(env)
    state = game.snapshot(env)
    evaluator = make_evaluator("go")
    assert default_evaluator(game, state) == evaluator
    # No point is surrounded by one colour alone: 3 stones to 1, less half a point of komi, and 2 stones more.
    assert evaluator(game, state) == (squash((3 - 1 - 0.5 + 2) / 20), -squash((3 - 1 - 0.5 + 2) / 20))


@pytest.mark.parametrize("seed", range(5))
def test_go_area_is_the_environments_own_score(seed):
    env, generator = make("classic/go-v5", board_size=5, komi=0.5), np.random.default_rng(seed)
    env.reset(seed=seed)
    game, evaluator = as_game(env, backend="clone"), make_evaluator("go")
    state = game.snapshot(env)
    for _ in range(60):
        if game.is_terminal(state):
            break
        position = state.env._go
        lead = (position.score() + position.board.sum()) / 20
        assert evaluator(game, state)[0] == pytest.approx(squash(lead))
        actions = game.legal_actions(state)
        state = game.result(state, actions[int(generator.integers(len(actions)))])
