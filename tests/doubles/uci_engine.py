"""A UCI engine that plays the first legal move, with a habit of real engines: uci_engine.py HABIT [LOG]."""

import os
import signal
import subprocess
import sys
import time

import chess

habit, log = sys.argv[1], sys.argv[2:]
board = chess.Board()
MOVES = {"none": "(none)", "null": "0000", "bare": "", "resigns": "resign", "illegal": "e2e5"}


def say(text):
    print(text, flush=True)


def write(data, times=1):
    for _ in range(times):
        sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def habits_before_a_move():
    if habit == "floods":
        write(b"info depth 1 \xff\xfe\n", 50_000)
    elif habit == "long line":
        write(b"info " + b"x" * 5_000_000 + b"\n")
    elif habit == "complains":
        sys.stderr.write("x" * 500_000 + "\n")
    elif habit == "never ends":
        write(b"info string still thinking\n" * 1000, sys.maxsize)
    elif habit == "line without end":
        write(b"x" * 100_000, sys.maxsize)
    elif habit == "dies":
        sys.exit("loading\ncannot open network.nn\n")
    elif habit == "is killed":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif habit == "hangs":
        time.sleep(1000)
    elif habit == "has a child" and board.fullmove_number == 1:
        note(f"pid {subprocess.Popen(['sleep', '1000'], stdin=subprocess.DEVNULL).pid}\n")


def note(text):
    if log:
        with open(log[0], "a") as file:
            file.write(text)


note(f"pid {os.getpid()}\n")
for line in sys.stdin:
    words = line.split()
    note(line)
    if words[:1] == ["uci"]:
        if habit == "noise":
            write(b"\xff\xfe no text \x00\n" + b"x" * 1_000_000 + b"\nuciokay\n")
        say("option name UCI_LimitStrength type check default false")
        say("option name UCI_Elo type spin default 1320 min 1320 max 3190\nuciok")
    elif words[:1] == ["isready"]:
        time.sleep(1000 if habit == "never ready" else 0)
        say("readyok")
    elif words[:1] == ["position"]:
        at = words.index("moves") if "moves" in words else len(words)
        board = chess.Board(" ".join(words[2:at]))
        for move in words[at + 1 :]:
            board.push_uci(move)
    elif words[:1] == ["go"]:
        habits_before_a_move()
        move = MOVES.get(habit, next(iter(board.legal_moves)).uci())
        say(f"bestmove {move.upper() if habit == 'shouts' else move}" + " ponder" * (habit == "ponders"))
    elif words[:1] == ["quit"] and habit != "deaf":
        break
while habit == "deaf":
    time.sleep(1)
