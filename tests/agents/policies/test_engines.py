"""External engines: scripted ones that play, stall, end and answer nonsense, and Debian's where they are."""

import copy
import shutil
import sys

import pytest

from zermelo.agents import make_agent
from zermelo.agents.agent import Resignation
from zermelo.agents.policies import engines as engines
from zermelo.agents.policies.engines import EngineError
from zermelo.agents.policies.gtp import GtpAgent
from zermelo.agents.policies.uci import UciAgent
from zermelo.envs import UnsupportedGameError, make
from zermelo.envs.errors import InvalidSettingError, MissingDependencyError
from zermelo.evaluation import play_match
from zermelo.evaluation.match.live_game import drive_env
from zermelo.evaluation.output import ExportFormat
from zermelo.evaluation.positions.moves import play_moves
from zermelo.evaluation.positions.notation import game_text
from zermelo.evaluation.positions.pgn import pgn_games

CHESS = """
import os, sys, time, chess
mode = sys.argv[1]
board = chess.Board()
for line in sys.stdin:
    words = line.split()
    if words[0] == "uci":
        print("id name scripted"); print("uciok", flush=True)
    elif words[0] == "isready":
        print("readyok", flush=True)
    elif words[0] == "position":
        fen, _, moves = line.partition("fen ")[2].partition(" moves ")
        board = chess.Board(fen.strip())
        for move in moves.split(): board.push_uci(move)
    elif words[0] == "go":
        if mode == "stalls": time.sleep(60)
        if mode == "closes":
            os.close(1)
            time.sleep(60)
        if mode == "ends": sys.exit(3)
        move = "xyzzy" if mode == "nonsense" else max(move.uci() for move in board.legal_moves)
        reply = ""
        if mode == "ponders":
            board.push_uci(move)
            reply = " ponder " + max(move.uci() for move in board.legal_moves)
        answer = f"bestmove {move}{reply}"
        if "ponder" not in words: print("info depth 1"); print(answer, flush=True)
    elif words[0] in ("stop", "ponderhit"):
        with open(sys.argv[2], "a") as log: log.write(words[0] + "\\n")
        print(answer, flush=True)
"""
GO = """
import sys
mode = sys.argv[1]
taken = set()
for line in sys.stdin:
    words = line.split()
    answer = ""
    if words[0] == "clear_board": taken = set()
    if words[0] == "play": taken.add(words[2])
    if words[0] == "genmove":
        answer = "nowhere" if mode == "nonsense" else next(v for v in "C3 A1 D5 resign".split() if v not in taken)
    print(("? unknown command" if mode == "refuses" else "= " + answer) + "\\n", flush=True)
"""


@pytest.fixture
def engine(tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "PATIENCE", 5.0)

    def path(program, mode="plays"):
        script = tmp_path / "engine.py"
        script.write_text(program)
        return f"{sys.executable} {script} {mode}"

    return path


def chess(*actions):
    env = make("classic/chess-v6")
    env.reset(seed=0)
    for action in actions:
        env.step(action)
    return env


@pytest.mark.parametrize("name", ["classic/chess-v6", "zermelo/Chess-v0"])
def test_an_engine_ponders_on_the_reply_that_it_names(engine, tmp_path, name):
    log = tmp_path / "log"
    agent = UciAgent(path=f"{engine(CHESS, 'ponders')} {log}", seconds=0.01)
    agent.reset(0)
    env = make(name)
    env.reset(seed=0)
    for is_expected in (True, False, True):
        env.step(agent.act(env))
        agent.ponder()
        legal = UciAgent(path=engine(CHESS), seconds=0.01)  # which plays what the other expects
        legal.reset(0)
        expected = legal.act(env)
        mask = env.unwrapped.observe(env.agent_selection)["action_mask"]
        others = [int(action) for action in mask.nonzero()[0] if action != expected]
        env.step(expected if is_expected else others[0])
    agent.act(env)
    assert agent.pondered == (3, 2)
    agent.ponder()
    agent.stop_pondering()
    assert log.read_text().split() == ["ponderhit", "stop", "ponderhit", "stop"]


def test_our_own_chess_is_played_too(engine):
    agent = UciAgent(path=engine(CHESS), seconds=0.01)
    agent.reset(0)
    env = make("zermelo/Chess-v0", fen="4k3/8/8/8/8/8/8/4K2R b K - 0 1")
    env.reset()
    for expected in ("Kf8", "Rh8+"):
        action = agent.act(env)
        assert env.unwrapped.rules.action_text(env.unwrapped.position, action) == expected
        env.step(action)


def test_chess_is_played_from_both_sides(engine):
    agent = UciAgent(path=engine(CHESS), seconds=0.01)
    agent.reset(0)
    env = chess()
    for _ in range(4):
        expected = max(move.uci() for move in env.unwrapped.board.legal_moves)
        action = agent.act(env)
        assert env.observe(env.agent_selection)["action_mask"][action]
        env.step(action)
        assert env.unwrapped.board.move_stack[-1].uci() == expected
    assert agent.spec().startswith("uci(path=")
    assert make_agent(agent.spec()).path == agent.path


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("ends", "ended, with exit code 3"),
        ("nonsense", "which is no legal move"),
        ("stalls", "did not answer in time"),
        ("closes", "has closed its input or output"),
    ],
)
def test_an_engine_that_fails_is_told_of(engine, mode, said, monkeypatch):
    agent = UciAgent(path=engine(CHESS, mode), seconds=0.01)
    agent.reset(0)
    monkeypatch.setattr(engines, "PATIENCE", 0.3 if mode in ("stalls", "closes") else 5.0)
    with pytest.raises(EngineError, match=said):
        agent.act(chess())


def test_go_is_played(engine):
    env = make("classic/go-v5(board_size=5)")
    env.reset(seed=0)
    agent = GtpAgent(path=engine(GO))
    agent.reset(0)
    for expected in (2 * 5 + 2, 4 * 5 + 0, 0 * 5 + 3):  # C3, A1, D5
        action = agent.act(env)
        assert action == expected
        env.step(action)
    with pytest.raises(Resignation, match="resigns"):
        agent.act(env)


@pytest.mark.parametrize(
    ("mode", "said"), [("nonsense", "'nowhere', which is no move"), ("refuses", "unknown command")]
)
def test_go_answers_that_are_none(engine, mode, said):
    env = make("classic/go-v5(board_size=5)")
    env.reset(seed=0)
    agent = GtpAgent(path=engine(GO, mode))
    agent.reset(0)
    with pytest.raises(EngineError, match=said):
        agent.act(env)


def test_other_games_and_programs_that_are_not_there(engine):
    env = make("classic/tictactoe-v3")
    env.reset(seed=0)
    for agent, game in ((UciAgent(path=engine(CHESS)), "plays chess"), (GtpAgent(path=engine(GO)), "plays Go")):
        agent.reset(0)
        with pytest.raises(UnsupportedGameError, match=game):
            agent.act(env)
    with pytest.raises(MissingDependencyError, match="there is no program 'no-such-engine'"):
        UciAgent(path="no-such-engine")
    with pytest.raises(InvalidSettingError, match="path must name a program"):
        UciAgent()


def needs(program):
    """Marks a test for Debian's engine of that name."""
    found = shutil.which(program) or shutil.which(f"/usr/games/{program}")
    return pytest.mark.skipif(found is None, reason=f"{program} is not installed: apt-get install {program}")


@pytest.mark.thorough
@needs("stockfish")
def test_stockfish_opens():
    agent = UciAgent(path="stockfish", nodes=1000, elo=1500)
    agent.reset(0)
    env = chess()
    assert env.observe(env.agent_selection)["action_mask"][agent.act(env)]


@pytest.mark.thorough
@needs("stockfish")
def test_stockfish_plays_the_same_game_in_both_environments():
    games = []
    for env in ("classic/chess-v6", "zermelo/Chess-v0"):
        opening = play_moves(drive_env(make(env), 0), "e4 c6")
        agents = [f"uci(path='stockfish', nodes={nodes})" for nodes in (50, 60)]
        record = play_match(env, agents, seed=3, opening=opening, max_moves=200)
        games.append(next(pgn_games(game_text(record, ExportFormat.PGN))).moves)
    assert games[0] == games[1]


@pytest.mark.thorough
@needs("gnugo")
@pytest.mark.parametrize("env", ["classic/go-v5(board_size=5)", "zermelo/Go-v0(size=5)"])
def test_gnugo_plays_a_game(env):
    path = "gnugo --mode gtp --chinese-rules --capture-all-dead"
    agents = {name: GtpAgent(path=path, level=1) for name in ("black_0", "white_0")}
    record = play_match(env, agents, seed=0)
    assert record.failure is None
    assert len(record.moves) > 5


def test_a_copy_is_another_engine(engine):
    agent = UciAgent(path=engine(CHESS), seconds=0.01)
    other = copy.deepcopy(agent)
    assert other.spec() == agent.spec()
    assert other.act(chess()) == agent.act(chess())
