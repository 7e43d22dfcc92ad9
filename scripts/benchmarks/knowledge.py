"""Endgame tables and proof numbers beside plain searches: conversions, ratings, probe cost, nodes to proofs."""

from __future__ import annotations

import itertools
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.common import fastest, result_of
from zermelo.agents import AlphaBetaAgent, solve
from zermelo.agents.knowledge.books import read_book
from zermelo.agents.knowledge.endgame_tables import EndgameTable, read_table
from zermelo.agents.knowledge_building.build_table import build_table
from zermelo.agents.knowledge_building.prove_book import prove_book
from zermelo.agents.tree_search.exact.prover import Prover
from zermelo.envs import make
from zermelo.envs.games import MNK, Chess, ConnectFour, Domineering, Hex
from zermelo.envs.rules import RulesGame

MATES = {
    "mate in 3": "r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1",
    "mate in 5": "2q1nk1r/4Rp2/1ppp1P2/6Pp/3p1B2/3P3P/PPP1Q3/6K1 w - - 0 1",
    "mate in 5, rook": "6r1/p3p1rk/1p1pPp1p/q3n2R/4P3/3BR2P/PPP2QP1/7K w - - 0 1",
    "mate in 7, rooks": "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
    "mate in 8, pawns": "3k4/1p6/1P1K4/2P5/8/8/8/8 w - - 0 1",
    "mate in 9": "3Q4/5q1k/4ppp1/2Kp1N1B/RR6/3P1r2/4nP1b/3b4 w - - 0 1",
}


def _table(pieces: str) -> EndgameTable:
    """The table of an ending, made once and kept with temporary files."""
    path = Path(tempfile.gettempdir()) / f"zermelo-{pieces}.ztable"
    return read_table(path) if path.exists() else build_table(Chess(), path, pieces=pieces).table


def _won(table: EndgameTable, pieces: str, count: int) -> Iterator[tuple[str, int]]:
    """Random positions that White, to move, wins, and the moves to mate."""
    import chess

    generator, found = random.Random(1), 0
    symbols = pieces[:-1] + "k"
    while found < count:
        board = chess.Board(None)
        for piece, square in zip(symbols, generator.sample(range(64), len(symbols)), strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(piece))
        if board.is_valid() and not board.is_game_over():
            entry = table.probe(Chess(), Chess(fen=board.fen()).initial_state())
            if entry is not None and entry.value > 0 and entry.plies is not None:
                found += 1
                yield board.fen(), entry.plies


def _mate(fen: str, attacker: Any, defender: Any) -> tuple[bool, int]:
    """True if White mates, and the plies of the game; draws by repetition and fifty moves count."""
    env = make("zermelo/Chess-v0", fen=fen)
    env.reset(seed=0)
    plies = 0
    while env.agents and not any(env.terminations.values()):
        env.step((attacker if plies % 2 == 0 else defender).act(env))
        plies += 1
    return max(env._cumulative_rewards.values()) > 0, plies


def endings(
    pieces: tuple[str, ...] = ("KRK", "KBNK"),
    positions: int = 200,
    plain: int = 20,
    seconds: float = 0.1,
    nodes: int = 0,
) -> Iterator[dict[str, Any]]:
    """Won endings of chess against a defence by the table, attacked with the table and, some of them, without.

    Each move takes ``seconds``, or ``nodes`` if there are any. Elo is of the games with the same positions, in
    which each is once the attacker: a win, or else a draw.
    """
    limit: dict[str, Any] = {"nodes": nodes} if nodes else {"seconds": seconds}
    for ending in pieces:
        table = _table(ending)
        defender = AlphaBetaAgent(tables=table.path, depth=1, exact=True)
        won, row = list(_won(table, ending, positions)), dict[str, Any]({"ending": ending})
        mates = dict[str, list[bool]]()
        for name, settings, count in (("with", {"tables": table.path}, positions), ("without", {}, plain)):
            attacker = AlphaBetaAgent(**limit, **settings)
            games = [(*_mate(fen, attacker, defender), plies) for fen, plies in won[:count]]
            mates[name] = [is_mate for is_mate, _, _ in games]
            row[f"won {name} the table"] = f"{sum(mates[name])} of {count}"
            moves = [played / plies for is_mate, played, plies in games if is_mate]
            row[f"moves {name}, to the fewest"] = sum(moves) / len(moves) if moves else "-"
        wins, losses = sum(mates["with"][:plain]), sum(mates["without"])
        yield row | result_of(wins, 2 * plain - wins - losses, losses)


def strategies(
    rows: int = 5, columns: int = 6, plies: int = 8, games: int = 100, seconds: float = 0.05, nodes: int = 0
) -> Iterator[dict[str, Any]]:
    """Mistakes in Connect Four, every move judged exactly, with a book of proven strategies and without.

    The opponent looks four moves ahead, and plays three moves in ten at random. With ``nodes`` a move takes that
    many, however busy the machine is. On six rows and seven columns the book is the one that comes with the
    package, and moves in the first six plies are judged where it knows both positions.
    """
    game = RulesGame(ConnectFour(rows, columns))
    is_whole = (rows, columns) == (6, 7)
    prover = Prover(game, memory_mb=256 if is_whole else 16)

    def value(state: Any, seat: int) -> int:
        if game.is_terminal(state):
            return int(game.utility(state)[seat])
        if (place := book.probe(game, state)) is not None:
            mine = int(book.values[place])
        else:
            score = prover.score(state, lower=-1, upper=1)
            mine = (score.lower > 0) - (score.upper < 0)
        return mine if game.to_move(state) == seat else -mine

    def mistakes(number: int, player: AlphaBetaAgent) -> tuple[list[int], int, int]:
        """The plies of the player's mistakes in a game, the moves that it made, and those that are not judged."""
        generator, seat, state = random.Random(number), number % 2, game.initial_state()
        opponent, wrong, made, unknown = AlphaBetaAgent(depth=4, seed=number, memory_mb=4), list[int](), 0, 0
        for ply in itertools.count():
            if game.is_terminal(state):
                return wrong, made, unknown
            if game.to_move(state) != seat:
                legal = list(game.legal_actions(state))
                is_random = generator.random() < 0.3
                action = generator.choice(legal) if is_random else opponent.search_state(game, state).action
                state = game.result(state, action)
                continue
            before, state = state, game.result(state, player.search_state(game, state).action)
            made += 1
            if is_whole and ply < 6 and None in (book.probe(game, before), book.probe(game, state)):
                unknown += 1
            elif value(state, seat) < value(before, seat):
                wrong.append(ply)
        raise AssertionError("the game ends")

    with tempfile.TemporaryDirectory() as folder:
        path, about = "connect_four", ""
        if not is_whole:
            path, started = os.path.join(folder, "exact.zbook"), time.process_time()
            prove_book(game, path, plies=plies, agent=AlphaBetaAgent(nodes=20_000), memory_mb=32)
            about = f"{os.path.getsize(path):,} bytes, {time.process_time() - started:.1f} s"
        book = read_book(path)
        limit: dict[str, Any] = {"nodes": nodes} if nodes else {"seconds": seconds}
        for name, known in (("with", path), ("without", None)):
            found = [
                mistakes(number, AlphaBetaAgent(seed=number, memory_mb=4, book=known, **limit))
                for number in range(games)
            ]
            wrong = [ply for plies_of, _, _ in found for ply in plies_of]
            yield {
                "book": name,
                "moves": sum(made for _, made, _ in found),
                "not judged": sum(unknown for _, _, unknown in found),
                "mistakes": len(wrong),
                f"in the first {plies} plies": sum(ply < plies for ply in wrong),
                "games with one": sum(bool(plies_of) for plies_of, _, _ in found),
                "size": f"{len(book):,} positions {about}" if known else "",
            }


def probing(depth: int = 7, rounds: int = 3) -> Iterator[dict[str, Any]]:
    """Nodes a second of alpha-beta with a table beside the same without, where captures lead into it."""
    path = _table("KRK").path
    game = RulesGame(Chess(fen="8/3k4/3b4/8/8/2K5/4R3/8 w - - 0 1"))
    for name, settings in (("none", {}), ("KRK", {"tables": path})):
        agent = AlphaBetaAgent(depth=depth, quiescence=0, **settings)
        found = agent.search_state(game)
        [seconds] = fastest(rounds, lambda agent=agent: agent.search_state(game))
        yield {"table": name, "nodes": found.nodes, "nodes a second": found.nodes / seconds}


def proofs(most: int = 10_000_000, hex5: int = 40_000_000, memory_mb: float = 512) -> Iterator[dict[str, Any]]:
    """States and processor time until df-pn, ``solve`` and alpha-beta that deepens have proven a value."""
    games: dict[str, Any] = {name: Chess(fen=fen) for name, fen in MATES.items()}
    games |= {"hex 4x4": Hex(4, 4), "hex 5x5": Hex(5, 5), "domineering 6x6": Domineering(6, 6)}
    games |= {"connect four 5x4": ConnectFour(4, 5), "4,4,4": MNK(4, 4, 4)}
    for name, rules in games.items():
        row: dict[str, Any] = {"game": name}
        ways: dict[str, Callable[..., Any]] = {
            "df-pn": lambda nodes, rules=rules: solve(
                rules, method="proof_number", nodes=nodes, outcome_only=True, memory_mb=memory_mb
            ),
            "solve": lambda nodes, rules=rules: solve(rules, nodes=nodes, outcome_only=True, memory_mb=memory_mb),
            "alpha-beta": lambda nodes, rules=rules: AlphaBetaAgent(
                nodes=nodes, quiescence=0, memory_mb=memory_mb
            ).search(rules),
        }
        for way, run in ways.items():
            run(nodes=5000)  # compiles
            started = time.process_time()
            found = run(nodes=hex5 if name == "hex 5x5" else most)
            seconds = time.process_time() - started
            row[f"{way}: states"] = f"{found.nodes:,}" if found.proven else f"more than {found.nodes:,}"
            row[f"{way}: s"] = seconds
        yield row
