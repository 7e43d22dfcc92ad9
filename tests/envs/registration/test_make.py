"""Environments by name."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import gymnasium
import pettingzoo
import pytest
from doubles.game_envs import Numbers, started

from zermelo.envs import UnsupportedGameError, as_game, list_envs, make, register_env
from zermelo.envs.errors import InvalidSettingError, MissingDependencyError, UnknownNameError
from zermelo.envs.registration.registry import EnvEntry
from zermelo.envs.support import installing
from zermelo.envs.support.installing import install_command


@pytest.mark.parametrize(
    "name",
    [
        "classic/connect_four-v3",
        "classic/connect_four_v3",
        "connect_four_v3",
        "connect_four-v3",
        "connect_four",
        "classic/connect_four",
        "pettingzoo.classic.connect_four_v3",
        " classic/connect_four-v3 ",
    ],
)
def test_spellings_of_a_pettingzoo_environment(name: str) -> None:
    env = make(name)
    assert str(env) == "connect_four_v3"
    env.reset()
    assert as_game(env).traits.name == "connect_four_v3"


def test_parameters_in_brackets_and_as_arguments() -> None:
    assert make("classic/go-v5(board_size=5, komi=0.5)").unwrapped._komi == 0.5
    assert make("classic/go-v5", board_size=5).unwrapped._N == 5
    assert make("classic/go-v5(board_size=5)", board_size=7).unwrapped._N == 7


def test_every_classic_environment_is_made() -> None:
    for env_id in pettingzoo.aec_registry:
        if env_id.startswith("classic/"):
            env = started(make(env_id), seed=0)
            assert env.agents


def test_gymnasium_environments() -> None:
    env = started(make("FrozenLake-v1(is_slippery=False)"), seed=0)
    assert len(env.unwrapped.P[0][0]) == 1
    assert make("FrozenLake").spec.id == "FrozenLake-v1"
    assert isinstance(make("CartPole-v1"), gymnasium.Env)


def test_openspiel_games_keep_their_parameters_through_reset() -> None:
    env = started(make("openspiel/breakthrough(rows=6, columns=6)"), seed=0)
    assert env.action_space(env.agents[0]).n == 432
    env.reset(seed=1)
    assert str(env._env) == "breakthrough(columns=6,rows=6)"
    assert make("openspiel/nim(pile_sizes=[1, 3, 5])")._env.new_initial_state().legal_actions()
    misere = started(make("openspiel/misere(game=tic_tac_toe())"))
    assert misere.action_space("player_0").n == 9


def test_a_function_of_the_users_from_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_games_here.py").write_text(
        textwrap.dedent("""
            from doubles.game_envs import Numbers
            def numbers(total=1.0, mask=None):
                return Numbers(total=total)
            def nothing():
                return 42
            class Old:
                pass

            Old.__module__ = "gym.core"

            def of_gym():
                return type("TicTacToe", (Old,), {})()

            def fails():
                raise RuntimeError("no more chips")
        """)
    )
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    assert make("my_games_here:numbers(total=2.5)").total == 2.5
    assert sys.path == before
    with pytest.raises(UnknownNameError, match=r"did you mean 'my_games_here:numbers'"):
        make("my_games_here:number")
    with pytest.raises(InvalidSettingError, match="takes no parameter 'sum': it takes total, mask"):
        make("my_games_here:numbers(sum=1)")
    with pytest.raises(UnsupportedGameError, match=r"made TicTacToe, .* one of gym, .*shimmy\.GymV26"):
        make("my_games_here:of_gym")
    with pytest.raises(UnsupportedGameError, match="my_games_here:nothing made int, which is no environment"):
        make("my_games_here:nothing")
    with pytest.raises(
        InvalidSettingError, match=r"cannot make my_games_here:fails\(\): RuntimeError: no more chips"
    ):
        make("my_games_here:fails")


def test_modules_that_are_not_there_or_do_not_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "needs_something.py").write_text("import a_package_nobody_has\n")
    (tmp_path / "is_broken.py").write_text("1 / 0\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownNameError, match="no module is called 'my_gmaes'"):
        make("my_gmaes:nim")
    with pytest.raises(
        MissingDependencyError, match="'needs_something' needs 'a_package_nobody_has': pip install"
    ):
        make("needs_something:nim")
    with pytest.raises(InvalidSettingError, match="importing 'is_broken' raised ZeroDivisionError"):
        make("is_broken:nim")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("auction", "auction.py is here: write auction:Auction"),
        ("auction.py", "auction.py is here: write auction:Auction"),
        ("auction.py:Auction", "did you mean 'auction:Auction'?"),
        ("auction.env", "did you mean 'auction:env'?"),
        ("unread", "unread.py is here: write unread:NAME, the name of a class or function in it that makes one"),
    ],
)
def test_a_file_of_that_name_is_read_and_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    methods = "def reset(self, seed=None): ...\n    def step(self, action): ..."
    code = f"1 / 0\nclass Card: ...\nclass Auction:\n    {methods}\ndef env(): ...\n"
    (tmp_path / "auction.py").write_text(code)
    (tmp_path / "unread.py").write_text("def (")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownNameError, match=re.escape(f"no environment is called '{name}': {said}") + "$"):
        make(name)


def test_only_what_may_make_an_environment_is_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    methods = "def reset(self, seed=None): ...\n    def step(self, action): ..."
    (tmp_path / "market.py").write_text(f"class Markets: ...\nclass Market:\n    {methods}\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownNameError, match=r"called 'market:Marketts': did you mean 'market:Market'\?$"):
        make("market:Marketts")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("classic/conect_four-v3", "classic/connect_four-v3"),
        ("conect_four_v3", "connect_four_v3"),
        ("classic/connect_four-v2", "classic/connect_four-v3"),
        ("FrozenLak-v1", "FrozenLake-v1"),
        ("frozenlake-v1", "FrozenLake-v1"),
        ("openspiel/breaktrough", "openspiel/breakthrough"),
    ],
)
def test_mistyped_names(name: str, meant: str) -> None:
    with pytest.raises(UnknownNameError, match=f"no environment is called '{name}': did you mean .*'{meant}'"):
        make(name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("classic/go-v5(size=5)", "takes no parameter 'size': it takes board_size, komi"),
        ("classic/hanabi-v5(colors=9)", r"cannot make classic/hanabi-v5\(colors=9\): ValueError"),
        ("openspiel/breakthrough(rowz=6)", "takes no parameter 'rowz': did you mean 'rows'"),
        ("openspiel/connect_four(rows='six')", "OpenSpiel cannot make 'openspiel/connect_four'"),
        ("openspiel/connect_four(rows=-1)", r"cannot make openspiel/connect_four\(rows=-1\): ValueError"),
        ("FrozenLake-v1(slippery=True)", "takes no parameter 'slippery'"),
        ("classic/go-v5(board_size=", "cannot read"),
    ],
)
def test_parameters_that_do_not_fit(text: str, message: str) -> None:
    with pytest.raises(InvalidSettingError, match=message):
        make(text)


def test_missing_packages_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pettingzoo.classic.tictactoe.tictactoe", None)
    with pytest.raises(MissingDependencyError, match=re.escape(install_command("classic"))):
        make("classic/tictactoe-v3")
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(MissingDependencyError, match=re.escape(install_command("openspiel"))):
        make("openspiel/hex")
    monkeypatch.setitem(sys.modules, "pettingzoo.butterfly.pistonball.pistonball", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "pettingzoo\[butterfly\]"'):
        make("butterfly/pistonball-v6")
    monkeypatch.setitem(sys.modules, "ale_py", None)
    with pytest.raises(MissingDependencyError, match=re.escape(install_command("atari"))):
        make("ALE/Boxing-v5")


def test_parallel_environments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_parallel_game.py").write_text(
        "import pettingzoo\ndef rps():\n    return pettingzoo.make('parallel', 'classic/rps-v2')\n"
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnsupportedGameError, match="my_parallel_game:rps is a parallel environment"):
        make("my_parallel_game:rps")
    pettingzoo.register("parallel", "here/only_parallel-v0", entry_point="my_parallel_game:rps")
    with pytest.raises(UnsupportedGameError, match="here/only_parallel-v0 is a parallel environment"):
        make("here/only_parallel-v0")


def test_registered_environments_are_known_to_pettingzoo_too(monkeypatch: pytest.MonkeyPatch) -> None:
    own: dict[str, Any] = {}
    for module in ("registry", "make"):
        monkeypatch.setattr(f"zermelo.envs.registration.{module}.OWN_ENVS", own)
    register_env("zermelo/Numbers-v0", "doubles.game_envs:Numbers", players="2", kind="numbers")
    assert make("zermelo/Numbers-v0", total=4.0).total == 4.0
    assert make("zermelo/Numbers-v0(total=2.0)").total == 2.0
    assert pettingzoo.make("aec", "zermelo/Numbers-v0", total=3.0).total == 3.0
    assert list_envs()[0].name == "zermelo/Numbers-v0"
    register_env("zermelo/Numbers-v0", Numbers, players="3")  # as when a cell of a notebook is run again
    register_env("zermelo/Numbers-v0", Numbers)
    assert pettingzoo.make("aec", "zermelo/Numbers-v0", total=3.0).total == 3.0
    with pytest.raises(InvalidSettingError, match=r"'zermelo/Numbers-v0' is that of doubles.game_envs:Numbers"):
        register_env("zermelo/Numbers-v0", dict)
    with pytest.raises(InvalidSettingError, match="an environment id is family/Name-vN"):
        register_env("Numbers", Numbers)
    with pytest.raises(UnknownNameError, match="did you mean 'zermelo/Numbers-v0'"):
        make("zermelo/Number-v0")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "order",
    [
        "import gymnasium, pettingzoo, zermelo.envs",
        """
import zermelo.envs
zermelo.envs.register_env("zermelo/Later-v0", "gymnasium:make")
assert sys.meta_path == finders
assert "pettingzoo" not in sys.modules
zermelo.envs.register_envs()
import gymnasium, pettingzoo
assert "zermelo/Later-v0" in pettingzoo.aec_registry
""",
    ],
    ids=["imported before", "when they are told"],
)
def test_pettingzoo_and_gymnasium_learn_of_environments(order: str) -> None:
    code = f"""
import sys
finders = list(sys.meta_path)
{order}
assert gymnasium.make("zermelo/Game2048-v0", rows=2).observation_space.shape == (2, 4)
assert pettingzoo.make("aec", "zermelo/MNK-v0", m=4, n=5).action_space("player_0").n == 20
assert pettingzoo.make("aec", "zermelo/ConnectFour").metadata["name"] == "connect_four_v0"
"""
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_the_list_holds_pettingzoos_classics_and_what_they_are() -> None:
    entries = {entry.name: entry for entry in list_envs()}
    classics = {env_id for env_id in pettingzoo.aec_registry if env_id.startswith("classic/")}
    assert {name for name in entries if name.startswith("classic/")} == classics
    for name in classics:
        env = started(make(name), seed=0)
        assert entries[name].information == as_game(env).traits.information
    for name in ("FrozenLake-v1", "Taxi-v4", "CliffWalking-v1", "Blackjack-v1"):
        assert name in gymnasium.registry
        assert entries[name].players == "1"


def test_the_list_says_how_to_install_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installing, "find_spec", lambda name: None)
    entry = EnvEntry("classic/go-v5", "2", "board", "perfect", "classic")
    assert entry.summary == f"2 players; board; searchable; not installed: {install_command('classic')}"


def test_a_line_of_the_list() -> None:
    entry = EnvEntry("classic/go-v5", "2", "board", "perfect", "classic")
    assert entry.summary == "2 players; board; searchable; installed"
    hidden: Any = EnvEntry("x/Y-v0", "1", "cards", "hidden")
    assert hidden.summary == "1 player; cards; hidden information"


def test_what_a_factory_raises_comes_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_failing_games.py").write_text(
        "import pettingzoo\n"
        "def deprecated():\n    from pettingzoo.classic import connect_four_v1\n"
        "    return connect_four_v1.env()\n"
        "def missing():\n    import nothing_of_that_name\n"
        "def broken():\n    size = 0\n    return 1 / size\n"
        "def selector():\n    from pettingzoo.utils import agent_selector\n    return agent_selector(['a'])\n"
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        InvalidSettingError, match=r"broken\(\): ZeroDivisionError.*my_failing_games\.py, line 9\)$"
    ):
        make("my_failing_games:broken")
    with pytest.raises(InvalidSettingError, match=r"deprecated\(\): Deprecated.*connect_four_v\d.*, line \d+\)$"):
        make("my_failing_games:deprecated")
    with pytest.raises(
        MissingDependencyError, match=r"needs nothing_of_that_name, .* pip install nothing_of_that"
    ):
        make("my_failing_games:missing")
    with pytest.raises(
        InvalidSettingError, match=r"line 12\); it was written for PettingZoo before 1\.27.*put that"
    ):
        make("my_failing_games:selector")


def test_a_package_that_lacks_a_part_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_torn_package").mkdir()
    (tmp_path / "my_torn_package" / "games.py").write_text("import my_torn_package.pictures\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        InvalidSettingError, match=r"raised No module named 'my_torn_package\.pictures' \(.*line 1\)"
    ):
        make("my_torn_package.games:env")


def test_true_and_false_are_values():
    """As in specs of agents: the text ``"false()"`` would be true."""
    table = make("FrozenLake-v1(map_name='8x8', is_slippery=false)").unwrapped.P
    assert all(len(outcomes) == 1 for actions in table.values() for outcomes in actions.values())


def test_text_that_begins_with_a_digit_needs_quotes():
    with pytest.raises(InvalidSettingError, match="put text in quotes, as in map_name='8x8'"):
        make("FrozenLake-v1(map_name=8x8)")
