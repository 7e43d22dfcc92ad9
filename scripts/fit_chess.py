"""Fits the evaluation of chess: to positions of games that Debian's Stockfish plays against itself.

``scripts/fit_chess.py play positions.txt --games 6000`` has it play, 400 nodes a move, from random openings and
with a random move now and then, and writes quiet positions beside the score that Stockfish expects (from its own
counts of wins, draws and losses) and the game's result. ``scripts/fit_chess.py fit positions.txt`` fits all
weights at once by logistic regression ("Texel's tuning method", P. Österlund; the Chess Programming Wiki) and
writes ``envs/games/chess/weights.py``. The evaluation is linear in its weights, so what stands beside each is
found by evaluating with a matrix in their place.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import textwrap
from pathlib import Path
from typing import Any

import chess
import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from zermelo.envs.games.chess import evaluation, terms
from zermelo.envs.games.chess.fen import read_fen

WEIGHTS = Path(__file__).resolve().parent.parent / "envs" / "games" / "chess" / "weights.py"
CENTIPAWNS = 400 / np.log(10)
"""What a score of one in the logistic curve is: 400 hundredths of a pawn are odds of ten to one."""
RIDGE = 20.0
"""How strongly weights are held to what the fit begins with: as if so many positions said so."""
ROUGH = (100, 300, 320, 500, 900, 0)
"""The values that the fit begins with and is held to where it knows nothing: pawn, knight, bishop, rook, queen."""


class Stockfish:
    """A running engine."""

    def __init__(self, path: str, nodes: int) -> None:
        self.process = subprocess.Popen(
            [path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.nodes = nodes
        self.tell("uci", "setoption name UCI_ShowWDL value true", "setoption name Hash value 16", "isready")
        self.until("readyok")

    def tell(self, *lines: str) -> None:
        """Writes lines."""
        assert self.process.stdin is not None
        self.process.stdin.write("".join(f"{line}\n" for line in lines))
        self.process.stdin.flush()

    def until(self, word: str) -> list[list[str]]:
        """The words of each line up to one that begins with a word."""
        assert self.process.stdout is not None
        lines: list[list[str]] = []
        while not lines or lines[-1][:1] != [word]:
            lines.append(self.process.stdout.readline().split())
        return lines

    def think(self, fen: str) -> tuple[str, float]:
        """The best move and the score that the player to move expects, from 0 to 1."""
        self.tell(f"position fen {fen}", f"go nodes {self.nodes}")
        lines = self.until("bestmove")
        told = [line[line.index("wdl") + 1 :] for line in lines if "wdl" in line]
        won, drawn = (float(word) for word in told[-1][:2])
        return lines[-1][1], (won + drawn / 2) / 1000


def play(path: Path, games: int, engine: Stockfish, seed: int) -> None:
    """Plays games and appends their quiet positions to a file."""
    draw = random.Random(seed)
    for _ in range(games):
        board = chess.Board()
        found: list[tuple[str, float]] = []
        for _ in range(draw.randrange(2, 11)):
            if moves := list(board.legal_moves):
                board.push(draw.choice(moves))
        engine.tell("ucinewgame")
        while not board.is_game_over(claim_draw=True) and board.ply() < 240:
            move_text, expected = engine.think(board.fen())
            move = chess.Move.from_uci(move_text)
            if not (board.is_check() or board.is_capture(move) or move.promotion or board.gives_check(move)):
                found.append((board.fen(), expected if board.turn else 1 - expected))
            if draw.random() < 0.04:
                move = draw.choice(list(board.legal_moves))
            board.push(move)
        result = {"1-0": "1", "0-1": "0"}.get(board.result(claim_draw=True), "0.5")
        with open(path, "a") as file:
            file.writelines(f"{fen};{expected:.3f};{result}\n" for fen, expected in found if draw.random() < 0.7)


def read(path: Path, most: int) -> tuple[Any, Any, Any]:
    """What is counted in each position, in the middle and the end; what it is worth; how many weights."""
    names = 2 * len(terms.WEIGHTS)
    unit = np.eye(len(terms.WEIGHTS), dtype=np.int16)
    kept = terms.WEIGHTS
    terms.WEIGHTS = evaluation.WEIGHTS = unit  # type: ignore[misc]  # see the module's text
    starts, columns, values, aims = [0], [], [], []
    lines = path.read_text().splitlines()
    random.Random(0).shuffle(lines)
    for line in lines[:most]:
        fen, expected, result = line.split(";")
        state, _ = read_fen(fen)
        counted = evaluation.balance(state)
        part = terms.phase(state.knights, state.diagonal, state.straight) / 24
        places = np.flatnonzero(counted)
        columns += [2 * places, 2 * places + 1]
        values += [part * counted[places], (1 - part) * counted[places]]
        starts.append(starts[-1] + 2 * len(places))
        aim = 0.75 * float(expected) + 0.25 * float(result)
        aims.append(1 - aim if state.seat else aim)
    terms.WEIGHTS = evaluation.WEIGHTS = kept  # type: ignore[misc]  # as above
    matrix = csr_matrix((np.concatenate(values), np.concatenate(columns), starts), (len(aims), names))
    return matrix, np.array(aims), names


def fit(path: Path, most: int) -> None:
    """Fits, and writes the weights."""
    matrix, aims, names = read(path, most)
    prior = np.zeros(names)
    for kind, value in enumerate(ROUGH):
        prior[128 * kind : 128 * (kind + 1)] = value / CENTIPAWNS
    train = np.arange(len(aims)) % 20 != 0
    rows, goals = matrix[train], aims[train]
    columns = rows.T.tocsr()

    def loss(weights: Any, some: Any, wanted: Any) -> float:
        answers = np.clip(1 / (1 + np.exp(-some @ weights)), 1e-6, 1 - 1e-6)
        return float(-(wanted * np.log(answers) + (1 - wanted) * np.log(1 - answers)).sum())

    def penalty(weights: Any) -> tuple[float, Any]:
        held = weights - prior
        slope = 1 / (1 + np.exp(-rows @ weights)) - goals
        return loss(weights, rows, goals) + RIDGE / 2 * float(held @ held), columns @ slope + RIDGE * held

    found = minimize(penalty, prior, jac=True, method="L-BFGS-B", options={"maxiter": 400})
    for name, weights in (("rough", prior), ("fitted", found.x)):
        apart = loss(weights, matrix[~train], aims[~train]) / (~train).sum()
        print(f"{name}: loss {apart:.4f} on {(~train).sum():,} positions kept apart")
    write(np.rint(found.x * CENTIPAWNS).astype(int))


def write(weights: Any) -> None:
    """Writes the module."""
    lines = [
        '"""Weights of the evaluation of chess, fitted by ``scripts/fit_chess.py``, in hundredths of a pawn.',
        "",
        "For each thing counted: what it counts while many pieces are there, then when few are left.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import Final",
        "",
        "import numpy as np",
        "",
        "# fmt: off",
        "_PAIRS: Final = (",
    ]
    for name, first, many in terms.BLOCKS:
        lines.append(f"    # {name}")
        text = ", ".join(map(str, weights[2 * first : 2 * (first + many)]))
        lines += textwrap.wrap(text + ",", 110, initial_indent="    ", subsequent_indent="    ")
    lines += [
        ")",
        "# fmt: on",
        "WEIGHTS: Final = np.array(_PAIRS[::2], np.int64) + (np.array(_PAIRS[1::2], np.int64) << 32)",
        '"""Both in one integer, ``middle + (end << 32)``."""',
        "WEIGHTS.flags.writeable = False",
    ]
    WEIGHTS.write_text("\n".join(lines) + "\n")


def main() -> None:
    """Plays or fits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("play", "fit"))
    parser.add_argument("file", type=Path, help="the positions")
    parser.add_argument("--games", type=int, default=2000)
    parser.add_argument("--nodes", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engine", default="/usr/games/stockfish")
    parser.add_argument("--most", type=int, default=200_000, help="positions to fit to")
    given = parser.parse_args()
    if given.what == "play":
        play(given.file, given.games, Stockfish(given.engine, given.nodes), given.seed)
    else:
        fit(given.file, given.most)


if __name__ == "__main__":
    main()
