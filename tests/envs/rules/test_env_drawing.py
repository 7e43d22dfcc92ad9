"""What environments over rules show: texts, pictures and observations."""

from __future__ import annotations

import random

import numpy as np
import pytest
from doubles.game_envs import started
from doubles.own_envs import EVERY, every_env
from doubles.own_rules import Pictured, ThreeTake

from zermelo.envs import make
from zermelo.envs.errors import InvalidSettingError, RulesError
from zermelo.envs.pictures.boards import draw, state_text
from zermelo.envs.rules.env import RulesEnv
from zermelo.envs.rules.observations import bit_rows


def test_text_and_picture() -> None:
    live = started(make("zermelo/MNK-v0", render_mode="ansi"))
    live.step(0)
    assert live.render() == "X . .\n. . .\n. . ."
    picture = draw(live.unwrapped.rules, live.unwrapped.position)
    assert picture.shape == (3 * 64 + 32, 3 * 64 + 32, 3)
    corner, other = picture[16:80, 16:80], picture[16:80, 80:144]
    assert len(np.unique(corner.reshape(-1, 3), axis=0)) > len(np.unique(other.reshape(-1, 3), axis=0))


@pytest.mark.thorough
@every_env
def test_every_move_changes_the_picture_and_the_text(name: str) -> None:
    live = started(EVERY[name](), seed=4)
    raw = live.unwrapped
    seen, texts, positions = set(), set(), set()
    draw_from = random.Random(4)
    while len(positions) < 25 and (actions := raw.legal_actions()):
        seen.add(draw(raw.rules, raw.position).tobytes())
        texts.add(state_text(raw.rules, raw.position))
        positions.add(raw.position)
        live.step(draw_from.choice(actions))
    assert len(seen) >= 0.8 * len(positions)
    assert len(texts) >= 0.8 * len(positions)


def test_human_rendering_prints_every_position(capsys: pytest.CaptureFixture[str]) -> None:
    live = started(make("zermelo/MNK-v0", render_mode="human"))
    live.step(8)
    assert capsys.readouterr().out == ". . .\n. . .\n. . .\n\n. . .\n. . .\n. . X\n\n"
    assert live.render() is None


def test_rendering_without_a_mode_warns() -> None:
    live = started(make("zermelo/MNK-v0"))
    with pytest.warns(UserWarning, match="without specifying any render mode"):
        assert live.render() is None


def test_a_wrong_render_mode_is_refused() -> None:
    with pytest.raises(InvalidSettingError, match=r"render_mode must be one of .*'rgb_array' or None, not 'png'"):
        make("zermelo/MNK-v0", render_mode="png")


def test_rules_may_draw_and_observe_for_themselves() -> None:
    live = started(RulesEnv(Pictured(), "rgb_array"))
    assert live.render().shape == (4, 5, 3)
    space = live.observation_space("player_0")["observation"]
    assert (space.dtype, space.shape, space.low.tolist(), space.high.tolist()) == (np.int16, (2,), [0, 0], [5, 5])
    assert live.observe("player_1")["observation"].tolist() == [5, 1]
    with pytest.raises(RulesError, match=r"Pictured.observation must return an array of numbers from 0 to 5"):
        RulesEnv(Pictured(fault=1))
    broken = started(RulesEnv(Pictured(fault=2), "rgb_array"))
    with pytest.raises(RulesError, match=r"Pictured.image must return .* not of shape \(4, 5\) and type uint8"):
        broken.render()


def test_bits() -> None:
    rows = bit_rows([1, -1, 1 << 62, -(1 << 63), 0])
    assert rows.shape == (5, 64)
    assert rows.dtype == np.int8
    assert [row.nonzero()[0].tolist() for row in rows] == [[0], list(range(64)), [62], [63], []]


def test_without_an_observation_of_its_own_a_player_sees_the_bits_of_the_state() -> None:
    live = started(RulesEnv(ThreeTake()))
    live.step(1)
    seen = live.observe("player_2")["observation"]
    assert [row.nonzero()[0].tolist() for row in seen] == [[3], [0], [2]]  # 8 are left, seat 1 moves, seat 2 looks
    assert (live.state() == seen[:2]).all()
    assert live.state_space.contains(live.state())
