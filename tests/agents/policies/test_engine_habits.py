"""Engines as they are: what they write besides answers, how they end, and what is left of them."""

import gc
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from doubles.processes import ends, left_running

from zermelo.agents import make_agent
from zermelo.agents.agent import Resignation
from zermelo.agents.base.clock import GameClock
from zermelo.agents.policies import engines
from zermelo.agents.policies.engines import EngineError, EngineTimeoutError
from zermelo.agents.policies.gtp import GtpAgent
from zermelo.agents.policies.uci import UciAgent
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import Chess
from zermelo.envs.registration.make import make
from zermelo.evaluation import play_match
from zermelo.evaluation.errors import AgentStartError
from zermelo.evaluation.match.record import EndReason, FailureKind
from zermelo.evaluation.match.score import SeatOutcome
from zermelo.evaluation.output import ExportFormat
from zermelo.evaluation.positions.notation import game_text
from zermelo.evaluation.workers.games import participants
from zermelo.evaluation.workers.settings import AgentLimits

pytestmark = pytest.mark.skipif(os.name != "posix", reason="engines are read by selecting among pipes")
CHESS = "zermelo/Chess-v0"
PROGRAM = Path(__file__).parents[2] / "doubles" / "uci_engine.py"
GO = """
import sys
answers = {"genmove": sys.argv[1]}
for line in sys.stdin:
    if sys.argv[2:]: open(sys.argv[2], "a").write(line)
    refused = line.startswith("time_") and sys.argv[1] == "A1"
    print(("? unknown command" if refused else "= " + answers.get(line.split()[0], "")) + "\\n", flush=True)
"""


def path_of(habit, *log):
    return " ".join(f"'{word}'" for word in (sys.executable, PROGRAM, habit, *log))


def played(habit, **settings):
    return play_match(CHESS, [UciAgent(path=path_of(habit)), "random"], seed=1, **{"max_moves": 4} | settings)


def pids_of(log, until=0.0):
    """The processes that an engine's log names."""
    while not (found := re.findall(r"pid (\d+)", log.read_text() if log.exists() else "")):
        assert time.monotonic() < until
        time.sleep(0.05)
    return list(map(int, found))


@pytest.mark.parametrize(
    "habit",
    [
        "plays", "ponders", "shouts", "floods", "long line", "complains", "noise", "has a child", "UTF-16", "CRLF",
        "greets", "uciok before", "uciok first", "answers twice", "dashes",
    ],
)  # fmt: skip
def test_what_is_no_answer_is_not_minded(habit):
    record = played(habit)
    assert record.failure is None
    assert len(record.moves) == 4


@pytest.mark.parametrize(
    ("habit", "kind", "said"),
    [
        ("none", "ILLEGAL_ACTION", "answered 'bestmove (none)', which is no legal move"),
        ("null", "ILLEGAL_ACTION", "answered 'bestmove 0000', which is no legal move"),
        ("bare", "ILLEGAL_ACTION", "answered 'bestmove', which is no legal move"),
        ("illegal", "ILLEGAL_ACTION", "answered 'bestmove e2e5', which is no legal move"),
        ("hangs", "TIMEOUT", "did not answer in time"),
        ("never ends", "TIMEOUT", "did not answer in time"),
        ("line without end", "TIMEOUT", "did not answer in time"),
        ("dies", "CRASH", "ended, with exit code 1, and wrote 'cannot open network.nn'"),
        ("is killed", "CRASH", "ended, with signal SIGSEGV"),
    ],
)
def test_failures_go_by_their_kind(habit, kind, said, monkeypatch):
    monkeypatch.setattr(engines, "PATIENCE", 1.0)
    record = played(habit)
    assert record.failure.kind is FailureKind(kind)
    assert said in record.failure.message
    assert record.outcomes == (SeatOutcome.LOSS, SeatOutcome.WIN)


@pytest.mark.parametrize("seat", [0, 1])
def test_a_resignation_is_a_loss_at_once(seat, tmp_path):
    (tmp_path / "go.py").write_text(GO)
    go = GtpAgent(path=f"{sys.executable} {tmp_path / 'go.py'} resign")
    for env, agent in ((CHESS, UciAgent(path=path_of("resigns"))), ("classic/go-v5(board_size=5)", go)):
        record = play_match(env, [agent, "random"][:: 1 - 2 * seat], seed=1)
        assert record.end is EndReason.RESIGNATION
        assert record.failure is None
        assert record.outcomes[seat] is SeatOutcome.LOSS
        assert record.outcomes[1 - seat] is SeatOutcome.WIN
        assert len(record.moves) == seat
        assert type(record).from_json(record.to_json()) == record


class Quits:
    name = "quits"
    needs = "environment"

    def act(self, env):
        raise Resignation("enough")

    def reset(self, seed=None):
        pass


def test_any_agent_may_resign():
    record = play_match("classic/tictactoe-v3", ["random", Quits()], seed=1)
    assert (record.end, record.rewards) == (EndReason.RESIGNATION, (1.0, -1.0))


def test_a_resignation_passes_between_processes():
    from zermelo.evaluation import round_robin

    standings = round_robin(
        "classic/tictactoe-v3", {"quits": Quits, "first": "random"}, games=2, isolation=AgentLimits(isolate="all")
    )
    assert [record.end for record in standings.records] == [EndReason.RESIGNATION] * 2
    assert standings.row("quits").score == 0
    assert not standings.row("quits").failures


@pytest.mark.parametrize("habit", ["deaf", "hangs", "has a child", "illegal"])
def test_nothing_of_an_engine_outlives_its_match(habit, tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "PATIENCE", 0.5)
    wrapper = tmp_path / "wrapper.sh"
    wrapper.write_text(f"#!/bin/sh\n{path_of(habit, tmp_path / 'log')}\nexit 0\n")
    wrapper.chmod(0o755)
    before = left_running()
    play_match(CHESS, [f"uci(path='{wrapper}')", "random"], seed=1, max_moves=2)
    found = pids_of(tmp_path / "log")
    assert len(found) == 1 + (habit == "has a child")
    assert all(map(ends, found))
    assert left_running() == before


def test_an_agent_can_end_its_engine_and_start_it_again(tmp_path):
    agent = UciAgent(path=path_of("deaf", tmp_path / "log"))
    agent.close()
    assert ends(*pids_of(tmp_path / "log"))
    record = play_match(CHESS, [agent, "random"], seed=1, max_moves=2)
    assert record.failure is None
    del agent
    gc.collect()
    assert all(map(ends, pids_of(tmp_path / "log")))


@pytest.mark.alone
@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_of_an_engine_outlives_a_program_that_is_ended(number, tmp_path):
    script = (
        "import signal\n"
        "from zermelo.agents.policies.uci import UciAgent\n"
        "from zermelo.evaluation import play_match\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"agent = UciAgent(path={path_of('hangs', tmp_path / 'log')!r}, seconds=60)\n"
        f"play_match({CHESS!r}, [agent, 'random'], seed=1)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    [engine] = pids_of(tmp_path / "log", until=time.monotonic() + 60)
    process.send_signal(number)
    process.wait(30)
    assert ends(engine)


def test_an_engine_has_time_to_quit(tmp_path):
    play_match(CHESS, [f'uci(path="{path_of("plays", tmp_path / "log")}")', "random"], seed=1, max_moves=2)
    assert (tmp_path / "log").read_text().endswith("quit\nsaved\n")


@pytest.mark.parametrize("isolate", ["none", "all"])
def test_an_engine_has_time_to_quit_in_tournaments(isolate, tmp_path):
    from zermelo.evaluation import round_robin

    round_robin(
        CHESS, [f'uci(path="{path_of("plays", tmp_path / "log")}")', "random"], games=2, max_moves=2,
        isolation=AgentLimits(isolate=isolate), progress=False,
    )  # fmt: skip
    log = (tmp_path / "log").read_text()
    assert log.count("pid") == log.count("saved") > 0
    assert log.endswith("quit\nsaved\n")


@pytest.mark.parametrize("env", [CHESS, "classic/chess-v6"])
def test_an_engine_has_the_moves_of_the_game(env, tmp_path):
    opening = play_match(env, ["random", "random"], seed=5, max_moves=3).actions
    agent = UciAgent(path=path_of("plays", tmp_path / "log"))
    record = play_match(env, [agent, "random"][::-1], seed=1, opening=opening, max_moves=4)
    assert record.failure is None
    told = [line for line in (tmp_path / "log").read_text().splitlines() if line.startswith("position")]
    moves = [line.partition(" moves ")[2].split() for line in told]
    assert [line.partition(" moves ")[0] for line in told] == [f"position fen {Chess().fen}"] * 2
    assert list(map(len, moves)) == [3, 5]
    assert moves[1][:3] == moves[0]


@pytest.mark.parametrize("env", [f"{CHESS}(fen='r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1')"])
def test_castling_as_in_chess960_is_castling(env):
    record = play_match(env, [UciAgent(path=path_of("castles by rook"))] * 2, seed=1, max_moves=2)
    assert record.failure is None
    assert game_text(record, ExportFormat.PGN).count("O-O") == 2


@pytest.mark.parametrize(("habit", "value"), [("plays", -34 / 434), ("is mated", -1 + 3e-6)])
def test_what_an_engine_says_of_its_move_is_recorded(habit, value):
    move = played(habit).moves[0]
    assert (move.depth, move.nodes) == ((9, 77) if habit == "plays" else (11, 100))
    assert move.value == pytest.approx(value, abs=1e-12)


# -- clocks of their own, and adjudication


@pytest.mark.parametrize("clock", ["60+0.5,5", ["60+0.5", "5"]])
def test_each_player_may_have_a_clock_of_its_own(clock, tmp_path):
    agent = UciAgent(path=path_of("plays", tmp_path / "log"))
    record = play_match(CHESS, ["random", agent], seed=1, clock=clock, max_moves=2)
    assert record.clocks == ("60+0.5", "5+0")
    assert type(record).from_json(record.to_json()) == record
    white, black, *steps = map(
        int, re.findall(r"\d+", re.findall(r"go wtime.*", (tmp_path / "log").read_text())[0])
    )
    assert white > 60_000 > 5_000 > black > 4_000
    assert steps == [500, 0]
    text = game_text(record, ExportFormat.PGN)
    assert '[WhiteTimeControl "60+0.5"]\n[BlackTimeControl "5+0"]' in text
    assert "[%clk 0:01:00." in text
    assert "[%clk 0:00:04." in text


def test_clocks_of_a_tournament_go_by_the_agent():
    from zermelo.evaluation import round_robin

    env, agents = "classic/tictactoe-v3", {"a": "greedy", "b": "random", "c": "random"}
    limits = AgentLimits(clock="9,8+1,7")
    standings = round_robin(env, agents, games=2, isolation=limits, progress=False)
    for record in standings.records:
        assert record.clocks == tuple({"a": "9+0", "b": "8+1", "c": "7+0"}[name] for name in record.agents)
    with pytest.raises(InvalidSettingError, match="2 clocks are given for 3 players: give one for all of them"):
        round_robin(env, agents, games=2, isolation=AgentLimits(clock="9,8"), progress=False)
    with pytest.raises(InvalidSettingError, match="a clock is seconds for the game"):
        AgentLimits(clock="9,x")


@pytest.mark.parametrize(
    ("white", "black", "adjudicate", "rewards", "plies"),
    [
        ("plays", "plays", "draw=2@0.1", (0.0, 0.0), 4),
        ("plays", "plays", "draw=2", None, 10),
        ("wins", "is mated", "draw=2,win=3", (1.0, -1.0), 6),
        ("is mated", "wins", "win=1", (-1.0, 1.0), 2),
        ("wins", "wins", "win=1", None, 10),
        ("wins", "is mated", None, None, 10),
        ("wins", "plays", "win=1", None, 10),
    ],
)
def test_games_end_where_both_agree(white, black, adjudicate, rewards, plies):
    agents = [UciAgent(path=path_of(white)), UciAgent(path=path_of(black))]
    record = play_match(CHESS, agents, seed=1, max_moves=10, adjudicate=adjudicate)
    assert len(record.moves) == plies
    assert (record.end is EndReason.ADJUDICATION) == (rewards is not None)
    assert record.rewards == (rewards or (0.0, 0.0))
    text = game_text(record, ExportFormat.PGN)
    assert f'[Termination "{"unterminated" if rewards is None else "adjudication"}"]' in text
    assert ("adjudicated, as both players agreed" in " ".join(text.split())) == (rewards is not None)


def test_tournaments_adjudicate_where_they_are_asked_to(tmp_path):
    from zermelo.evaluation import read_games, round_robin

    agents = {"a": f'uci(path="{path_of("wins")}")', "b": f'uci(path="{path_of("is mated")}")'}
    round_robin(CHESS, agents, games=2, adjudicate="win=2", out=tmp_path / "run", progress=False)
    assert [record.end for record in read_games(tmp_path / "run")] == [EndReason.ADJUDICATION] * 2
    for text in ("draw", "win=0", "draw=2,draw=3", "win=2@1.5", ""):
        with pytest.raises(InvalidSettingError, match="numbers of moves for which both players agree"):
            round_robin(CHESS, agents, games=2, adjudicate=text, progress=False)


# -- settings and the start


def test_options_by_the_names_of_the_engine(tmp_path):
    options = {"hash": 64, "Skill Level": 5, "Style": "very risky", "Clear Hash": True, "Own Book": False}
    agent = UciAgent(path=path_of("uciok before", tmp_path / "log"), options=options | {"Log File": ""}, elo=1500)
    assert make_agent(agent.spec()).options == agent.options
    sent = (tmp_path / "log").read_text().partition("ucinewgame")[0].splitlines()
    assert [line.removeprefix("setoption name ") for line in sent if line.startswith("setoption")] == [
        "UCI_LimitStrength value true", "UCI_Elo value 1500", "Hash value 64", "Skill Level value 5",
        "Style value Very Risky", "Clear Hash", "Own Book value false", "Log File value <empty>",
    ]  # fmt: skip


def test_an_engine_has_its_time_to_start(monkeypatch):
    start = engines.START_SECONDS.set(0.5)
    monkeypatch.setattr(engines, "PATIENCE", 0.5)
    try:
        with pytest.raises(EngineTimeoutError, match="did not answer in time"):
            UciAgent(path=path_of("never ready"))
    finally:
        engines.START_SECONDS.reset(start)
    with pytest.raises(AgentStartError, match=r"it did not answer within 1\.5 s"):
        participants([f'uci(path="{path_of("never ready")}")'], AgentLimits(start_seconds=1.5))
    said = r"cat has started but does not answer in GTP within 1\.5 s: give what makes it speak it"
    with pytest.raises(AgentStartError, match=said):
        participants(["gtp(path='cat')"], AgentLimits(start_seconds=1.5))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"options": {"Hush": 64}}, "has no option 'Hush': did you mean 'Hash'?"),
        ({"options": {"Contempt": 1}}, "has no option 'Contempt': it has Hash, Skill Level"),
        ({"options": {"Hash": 0}}, "Hash must be from 1 to 1024 for .*, not 0"),
        ({"options": {"Hash": "64"}}, "Hash must be from 1 to 1024 for .*, not '64'"),
        ({"options": {"Style": "wild"}}, "Style must be Solid or Very Risky for .*, not 'wild'"),
        ({"options": {"Own Book": 2}}, "Own Book must be True or False for .*, not 2"),
        ({"options": {"UCI_Elo": 1500}, "elo": 1400}, "give elo or 'UCI_Elo' in options, not both"),
        ({"options": {"UCI_Chess960": True}}, "leave 'UCI_Chess960' out of options: Chess960 is not played here"),
        ({"options": "Hash=64"}, "options must be a dictionary of names and values"),
        ({"options": {"Hash": 64.5}}, "options must be a dictionary of names and values"),
        ({"elo": 100}, "elo must be from 1320 to 3190 for .*, not 100"),
        ({"threads": 2}, "has no option Threads: leave threads out"),
        ({"seconds": 0}, "seconds must be a finite number greater than 0, not 0"),
        ({"seconds": "1"}, "seconds must be a finite number greater than 0, not '1'"),
        ({"nodes": 0}, "nodes must be a whole number of at least 1, not 0"),
    ],
)
def test_settings_that_an_engine_cannot_have(settings, said):
    with pytest.raises(InvalidSettingError, match=said):
        UciAgent(path=path_of("plays"), **settings)


def test_a_file_that_is_no_program(tmp_path):
    program = tmp_path / "engine"
    program.write_text("no program\n")
    program.chmod(0o755)
    with pytest.raises(EngineError, match=r"cannot be started .*: give path a program for this machine"):
        UciAgent(path=str(program))


def test_an_engine_that_has_not_been_started():
    agent = UciAgent(path=path_of("plays"))
    agent.close()
    env = make(CHESS)
    env.reset(seed=0)
    with pytest.raises(EngineError, match="is not running: call reset first"):
        agent.act(env)


@pytest.mark.parametrize(
    ("habit", "said"),
    [
        ("ends at once", "ended, with exit code 1, and wrote 'no licence'"),
        ("never ready", "the last line .*'uciok'"),
    ],
)
def test_an_engine_that_does_not_start_says_why(habit, said, monkeypatch):
    monkeypatch.setattr(engines, "PATIENCE", 1.0)
    start = engines.START_SECONDS.set(0.5)
    try:
        with pytest.raises(EngineError, match=said):
            UciAgent(path=path_of(habit))
    finally:
        engines.START_SECONDS.reset(start)


# -- GTP

GTP = Path(__file__).parents[2] / "doubles" / "gtp_engine.py"


@pytest.mark.parametrize(
    "habit",
    [
        "numbers", "plain", "banner", "banner like an answer", "stray lines", "strays like answers",
        "an error first", "no blank lines", "small letters", "several lines", "CRLF", "tabs", "no clocks",
    ],
)  # fmt: skip
@pytest.mark.parametrize("env", ["classic/go-v5(board_size=5)", "zermelo/Go-v0(size=5)"])
def test_gtp_engines_as_they_are(habit, env):
    path = f"'{sys.executable}' '{GTP}' '{habit}'"
    record = play_match(env, [GtpAgent(path=path), "random"], seed=2, max_moves=6, clock="60")
    assert record.failure is None
    taken = [move.action for move in record.moves]
    order = [*range(20, 25), *range(15, 20)]  # the engine plays the first point that is empty, from A1 on
    for ply in (0, 2, 4):
        assert taken[ply] == next(point for point in order if point not in taken[:ply])


def test_an_engine_of_go_is_told_the_game(tmp_path):
    env = "zermelo/Go-v0(size=5, komi=3.5)"
    agent = GtpAgent(path=f"'{sys.executable}' '{GTP}' plain '{tmp_path / 'log'}'")
    record = play_match(env, ["random", agent], seed=3, opening=(12, 25, 0), max_moves=1)
    assert record.failure is None
    game = (tmp_path / "log").read_text().partition("boardsize")[2].splitlines()
    assert game[:6] == [" 5", "clear_board", "komi 3.5", "play black C3", "play white pass", "play black A5"]
    assert game[6:] == ["genmove white"]


@pytest.mark.parametrize(
    ("habit", "said"), [("refuses", "'\\? unknown command' to 'boardsize 5'"), ("no point", "'I9'")]
)
def test_gtp_answers_that_are_none(habit, said):
    record = play_match(
        "zermelo/Go-v0(size=5)", [GtpAgent(path=f"'{sys.executable}' '{GTP}' '{habit}'"), "random"], seed=1
    )
    assert re.search(said, record.failure.message)


# -- clocks


def told(tmp_path, seat=0, clock="60+0.5", **settings):
    """The commands to search that an engine got in a game with a clock."""
    agent = UciAgent(path=path_of("plays", tmp_path / "log"), **settings)
    record = play_match(CHESS, [agent, "random"][:: 1 - 2 * seat], seed=1, clock=clock, max_moves=4)
    assert record.failure is None
    return [line for line in (tmp_path / "log").read_text().splitlines() if line.startswith("go")]


@pytest.mark.parametrize("seat", [0, 1])
def test_uci_engines_are_told_the_clock(tmp_path, seat):
    first, second = told(tmp_path, seat)
    times = [int(number) for number in re.findall(r"[wb]time (\d+)", first)]
    assert re.fullmatch(r"go wtime \d+ btime \d+ winc 500 binc 500", first)
    assert 59_000 < times[seat] < 60_000, "a reserve is kept"
    assert 59_900 < times[1 - seat] <= 60_500
    later = [int(number) for number in re.findall(r"[wb]time (\d+)", second)]
    assert times[seat] < later[seat] < times[seat] + 500, "what the move added, less what it took"


def test_what_limits_an_engine_besides_stays(tmp_path):
    assert told(tmp_path, nodes=5) == ["go nodes 5"] * 2
    (tmp_path / "log").unlink()
    assert told(tmp_path, depth=2) == ["go depth 2"] * 2
    (tmp_path / "log").unlink()
    assert all(command.endswith(" movetime 50") for command in told(tmp_path, seconds=0.05))
    (tmp_path / "log").unlink()
    assert told(tmp_path, clock=None) == ["go movetime 100"] * 2


def test_little_time_left_is_told_as_a_positive_time(tmp_path):
    agent = UciAgent(path=path_of("plays", tmp_path / "log"))
    env = make(CHESS)
    env.reset(seed=0)
    agent.tell_clock(GameClock(left=(0.01, 0.0), seat=0))
    agent.act(env)
    assert "go wtime 1 btime 1 winc 0 binc 0" in (tmp_path / "log").read_text()


@pytest.mark.parametrize("answer", ["B2", "A1"], ids=["knows clocks", "refuses clocks"])
def test_gtp_engines_are_told_the_clock(tmp_path, answer):
    (tmp_path / "go.py").write_text(GO)
    agent = GtpAgent(path=f"{sys.executable} {tmp_path / 'go.py'} {answer} {tmp_path / 'log'}")
    record = play_match("classic/go-v5(board_size=5)", ["random", agent], seed=3, clock="90+2.5", max_moves=2)
    assert record.failure is None
    commands = (tmp_path / "log").read_text().splitlines()
    at = commands.index("genmove white")
    assert commands[at - 3 : at] == ["time_settings 90 2 1", "time_left black 92 0", "time_left white 89 0"]
