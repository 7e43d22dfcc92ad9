"""A UCI engine that plays the first legal move, with a habit of real engines: uci_engine.py HABIT [LOG]."""

import os
import signal
import subprocess
import sys
import time

import chess

habit, log = sys.argv[1], sys.argv[2:]
board = chess.Board()
END = "\r\n" if habit == "CRLF" else "\n"
MOVES = {"none": "(none)", "null": "0000", "bare": "", "resigns": "resign", "illegal": "e2e5"}


def say(text):
    sys.stdout.write(text.replace("\n", END) + END)
    sys.stdout.flush()


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


def best_move():
    moves = list(board.legal_moves)
    if habit == "castles by rook":
        castling = [move for move in moves if board.is_castling(move)]
        rooks = {6: 7, 2: 0}
        if castling:
            to = castling[0].to_square
            return chess.square_name(castling[0].from_square) + chess.square_name(to - to % 8 + rooks[to % 8])
    return moves[0].uci()


note(f"pid {os.getpid()}\n")
if habit == "ends at once":
    sys.exit("no licence")
if habit == "UTF-16":
    sys.stdout.reconfigure(encoding="utf-16-le")
if habit == "greets":
    say("==== Engine 1.0 ====\nuciok?\nreadyok by the authors")
if habit == "uciok before":
    say("uciok")
for line in sys.stdin:
    words = line.split()
    note(line)
    if words[:1] == ["uci"]:
        if habit == "noise":
            write(b"\xff\xfe no text \x00\n" + b"x" * 1_000_000 + b"\nuciokay\n")
        if habit == "uciok first":
            say("uciok")
        say("option name Hash type spin default 16 min 1 max 1024")
        say("option name Skill Level type spin default 20 min 0 max 20")
        say("option name Style type combo default Solid var Solid var Very Risky")
        say("option name Clear Hash type button")
        say("option name Own Book type check default true\noption name Log File type string default <empty>")
        say("option name UCI_Chess960 type check default false")
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
        move = MOVES.get(habit) or (best_move() if habit != "bare" else "")
        say(
            "info depth 9 seldepth 12 multipv 1 score cp -34 nodes 77 pv e2e4\ninfo depth 9 multipv 2 score cp -90"
        )
        say("info depth 10 score cp 800 lowerbound nodes 99 pv e2e4\ninfo string NNUE score cp 1")
        if habit in ("is mated", "wins"):
            say(f"info depth 11 score {'mate -3' if habit == 'is mated' else 'cp 2000'} nodes 100")
        if habit == "dashes":
            move = f"{move[:2]}-{move[2:4]}{'=' * (len(move) > 4)}{move[4:].upper()}"
        say(f"bestmove {move.upper() if habit == 'shouts' else move}" + " ponder" * (habit == "ponders"))
        if habit == "answers twice":
            say(f"bestmove {move}\ninfo depth 99\nbestmove e1e8")
    elif words[:1] == ["quit"] and habit != "deaf":
        time.sleep(0.3)
        note("saved\n")
        break
while habit == "deaf":
    time.sleep(1)
