"""Opening books: growth, transpositions and symmetries, play from them, bad input."""

from __future__ import annotations

import functools
import struct
from pathlib import Path

import numpy as np
import pytest

from zermelo.agents import MinimaxAgent, make_agent, solve
from zermelo.agents.base.limits import StoppedBy
from zermelo.agents.knowledge.books import EXPANDED, PROVEN, book_lines, good_moves, outline, read_book
from zermelo.agents.knowledge.endgame_tables import canonical
from zermelo.agents.knowledge_building.grow_book import grow_book
from zermelo.agents.knowledge_building.prove_book import prove_book
from zermelo.agents.solving.solve import exact_values
from zermelo.agents.tree_search.exact.prover import Prover
from zermelo.envs import UnsupportedGameError
from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.games import MNK, Chess, ConnectFour, Kalah, Othello, Pig
from zermelo.envs.jit.memory import load_state
from zermelo.envs.registration.make import make
from zermelo.envs.rules import RulesGame
from zermelo.evaluation.tournament.opening_files import openings_for
from zermelo.evaluation.tournament.run import make_runner

TICTACTOE = RulesGame(MNK(3, 3, 3))
SMALL_FOUR = ConnectFour(4, 4)
FIRST = MinimaxAgent(depth=1, ties="first")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("books") / "tictactoe.zbook"
    grow_book(TICTACTOE, path, plies=9)
    return str(path)


def test_a_whole_game_has_each_position_once(whole):
    book = read_book(whole)
    assert len(book) == 627  # mirrored and turned boards are one
    assert np.all(book.flags == PROVEN | EXPANDED)


@pytest.mark.parametrize("line", [(), (4,), (0,), (0, 1), (1, 8, 2), (0, 4, 8)])
def test_moves_are_worth_what_solving_says(whole, line):
    state = TICTACTOE.initial_state()
    for action in line:
        state = TICTACTOE.result(state, action)
    moves = read_book(whole).moves(TICTACTOE, state)
    assert {move.action: move.value for move in moves} == solve(TICTACTOE, state).action_values
    assert all(move.proven for move in moves)


@pytest.mark.parametrize("agent", ["alphabeta", "mcts", "auto"])
def test_agents_play_good_moves_at_random(whole, agent):
    player = make_agent(f"{agent}(book={whole!r})")
    state = TICTACTOE.result(TICTACTOE.initial_state(), 0)
    found = [player.search_state(TICTACTOE, state) for _ in range(4)]
    assert {result.action for result in found} == {4}  # all else loses to a corner
    assert found[0].proven
    assert found[0].value == 0
    assert found[0].method == "book: tictactoe.zbook"
    first = {player.search_state(TICTACTOE, TICTACTOE.initial_state()).action for _ in range(40)}
    assert len(first) > 4


@pytest.mark.parametrize(
    ("rules", "plies"), [(MNK(3, 3, 2), 5), pytest.param(SMALL_FOUR, 6, marks=pytest.mark.thorough)]
)
def test_strategies_have_an_answer_to_everything_and_make_no_mistake(tmp_path, rules, plies):
    game, path = RulesGame(rules), tmp_path / "exact.zbook"
    for deeper in range(1, plies + 1):
        book = prove_book(game, path, plies=deeper, agent=FIRST)

    @functools.cache
    def value(state):
        [found] = exact_values(game, [state], threads=1)
        return found.values_by_seat[game.to_move(state)]

    def walk(state, seat, left):
        if not left or game.is_terminal(state):
            return
        if game.to_move(state) != seat:
            actions = game.legal_actions(state)
        else:
            moves = book.moves(game, state)
            actions = [move.action for move in good_moves(game, moves)]
            assert actions
            assert all(move.proven and move.value == value(state) for move in moves if move.action in actions)
        for action in actions:
            walk(game.result(state, action), seat, left - 1)

    for seat in (0, 1):
        walk(game.initial_state(), seat, plies)
    states = np.ascontiguousarray(book.states)
    loaded = [load_state(game.initial_state(), row.ctypes.data) for row in states]
    assert [value(state) for state in loaded] == book.values.tolist()


@pytest.mark.thorough
def test_strategies_go_on_until_a_quick_proof_suffices(tmp_path):
    game, plies, nodes = RulesGame(ConnectFour(4, 5)), 2, 50
    book = prove_book(game, tmp_path / "deep.zbook", plies=plies, nodes=nodes, agent=FIRST)
    quick, judge, ends = Prover(game, memory_mb=1, nodes=nodes), Prover(game), list[int]()

    def value(state):
        score = judge.score(state, lower=-1, upper=1)
        return (score.lower > 0) - (score.upper < 0)

    def is_quick(state):
        quick.clear_memory()
        return quick.score(state, lower=-1, upper=1).stopped_by is StoppedBy.COMPLETED

    @functools.cache
    def walk(state, seat, ply):
        if game.is_terminal(state):
            return
        actions = game.legal_actions(state)
        if game.to_move(state) == seat:
            moves = book.moves(game, state)
            if not moves:
                assert is_quick(canonical(game.rules, state)[1])
                ends.append(ply)
                return
            actions = [move.action for move in good_moves(game, moves)]
            assert all(move.proven and move.value == value(state) for move in moves if move.action in actions)
        for action in actions:
            walk(game.result(state, action), seat, ply + 1)

    for seat in (0, 1):
        walk(game.initial_state(), seat, 0)
    assert plies <= min(ends) < max(ends) - 4
    deepest = prove_book(game, tmp_path / "all.zbook", plies=max(ends), agent=FIRST)
    assert len(book) < len(deepest) / 2

    def stop_after(most, progress):
        if progress.positions > most:
            raise KeyboardInterrupt

    path = tmp_path / "again.zbook"
    for most in range(len(book) // 3, len(book), len(book) // 3):
        stop = functools.partial(stop_after, most)
        with pytest.raises(KeyboardInterrupt):
            prove_book(game, path, plies=plies, nodes=nodes, agent=FIRST, on_progress=stop)
    again = prove_book(game, path, plies=plies, nodes=nodes, agent=FIRST)
    assert np.array_equal(again.keys, book.keys)
    assert np.array_equal(again.flags, book.flags)


def test_the_book_of_connect_four_that_comes_with_the_package():
    """The first player wins, in the middle; after the neighbour of the middle the game is drawn (Allis, 1988)."""
    game, player = RulesGame(ConnectFour()), make_agent("alphabeta(depth=1, book='connect_four')")
    first = player.search_state(game)
    assert (first.action, first.value, first.proven) == (3, 1, True)
    assert first.action_values == {0: -1, 1: -1, 2: 0, 3: 1, 4: 0, 5: -1, 6: -1}
    answers = {}
    for action in range(7):
        state = game.result(game.initial_state(), action)
        answers[action] = player.search_state(game, state)
        assert answers[action].method == "book: connect_four"
    assert [found.value for found in answers.values()] == [1, 1, 0, -1, 0, 1, 1]


def test_the_book_of_connect_four_has_an_answer_to_every_move_in_ten_plies():
    game, book = RulesGame(ConnectFour()), read_book("connect_four")
    for seat in (0, 1):
        frontier = {0: game.initial_state()}
        for _ in range(10):
            after = {}
            for state in frontier.values():
                moves = book.moves(game, state) if game.to_move(state) == seat else None
                actions = (
                    game.legal_actions(state) if moves is None else [m.action for m in good_moves(game, moves)]
                )
                children = [game.result(state, action) for action in actions]
                after |= {game.key(child): child for child in children if not game.is_terminal(child)}
            frontier = after
        assert len(frontier) > 100


def test_the_book_of_connect_four_goes_on_until_a_quick_proof_suffices():
    game, book, generator = RulesGame(ConnectFour()), read_book("connect_four"), np.random.default_rng(1)
    quick, judge, ends = Prover(game, memory_mb=1, nodes=30_000), Prover(game), list[int]()
    for seat in [0, 1] * 200:
        state, ply, last = game.initial_state(), 0, None
        while not game.is_terminal(state):
            actions = list(game.legal_actions(state))
            if game.to_move(state) == seat:
                if not (moves := book.moves(game, state)):
                    quick.clear_memory()
                    found = quick.score(canonical(game.rules, state)[1], lower=-1, upper=1)
                    assert found.stopped_by is StoppedBy.COMPLETED
                    ends.append(ply)
                    break
                actions = [move.action for move in good_moves(game, moves)]
                last = ply, state, moves[0]
            state, ply = game.result(state, int(generator.choice(actions))), ply + 1
        if last is not None and last[0] >= 10:
            score = judge.score(last[1], lower=-1, upper=1)
            place = book.probe(game, last[1])
            assert book.values[place] == (score.lower > 0) - (score.upper < 0)
    assert min(ends) >= 10
    assert max(ends) > 14


def test_a_book_of_othello_has_the_published_value_of_perfect_play(tmp_path):
    """The second player wins by 20 to 16 (J. Feinstein, "Amenor wins world 6x6 championships!", 1993)."""
    squares = "d3c5d6e3f5f4e2d2c2e6e7g5c4c3g4g3f3c7b5d7b7b3c6b6f7f6b4b2g6g7f2g2"  # b2 to g7, as if of an 8x8 board
    line = [
        "bcdefg".index(column) + 6 * "234567".index(row)
        for column, row in zip(squares[::2], squares[1::2], strict=True)
    ]
    env = make("zermelo/Othello-v0(rows=6, columns=6, margin=True)")
    env.reset(seed=0)
    game, state = RulesGame(Othello(6, 6, margin=True)), None
    for ply, action in enumerate(line):
        if ply == 16:
            book = grow_book(env, tmp_path / "othello.zbook", plies=2)
        if ply in (16, 17, 18):
            place = book.probe(game, state)
            assert book.values[place] == (4 if game.to_move(state) else -4)
            assert book.flags[place] & PROVEN
        state = state or game.initial_state()
        for move in ((36,) if list(game.legal_actions(state)) == [36] else ()) + (action,):  # 36 passes
            state = game.result(state, move)
            env.step(move)
    assert game.utility(state) == (-4, 4)


def test_strategies_are_few_and_go_on_where_they_stopped(tmp_path, whole):
    at_once = prove_book(TICTACTOE, tmp_path / "one.zbook", plies=9, agent=FIRST)
    assert len(at_once) < len(read_book(whole)) / 2

    def stop(progress):
        if progress.positions > 30:
            raise KeyboardInterrupt

    path = tmp_path / "two.zbook"
    with pytest.raises(KeyboardInterrupt):
        prove_book(TICTACTOE, path, plies=9, agent=FIRST, on_progress=stop)
    assert 30 < len(read_book(path)) < len(at_once)
    again = prove_book(TICTACTOE, path, plies=9, agent=FIRST)
    assert np.array_equal(again.keys, at_once.keys)
    assert np.array_equal(again.flags, at_once.flags)
    late = prove_book(TICTACTOE, tmp_path / "no.zbook", plies=9, agent=FIRST, seconds=1e-9)
    assert len(late) < len(at_once)


def test_strategies_are_not_grown_otherwise_nor_of_other_games(tmp_path):
    path = tmp_path / "exact.zbook"
    prove_book(TICTACTOE, path, plies=2, agent=FIRST)
    with pytest.raises(InvalidSettingError, match="has proven strategies"):
        grow_book(TICTACTOE, path, plies=3)
    with pytest.raises(UnsupportedGameError, match="is not won, drawn or lost"):
        prove_book(Kalah(3, 2, margin=True), path, plies=2, agent=FIRST)
    with pytest.raises(UnsupportedGameError, match="chance"):
        prove_book(Pig(20), path, plies=2, agent=FIRST)


def test_a_position_that_the_book_lacks_is_searched(tmp_path):
    path = tmp_path / "four.zbook"
    grow_book(SMALL_FOUR, path, plies=1)
    game = RulesGame(SMALL_FOUR)
    player = make_agent(f"alphabeta(depth=2, book={str(path)!r})")
    assert player.search_state(game).method.startswith("book")
    later = game.result(game.result(game.initial_state(), 0), 1)
    assert player.search_state(game, later).method == ""


def test_a_book_goes_on_where_it_stopped(tmp_path):
    path, once = tmp_path / "four.zbook", tmp_path / "once.zbook"
    how = {"agent": MinimaxAgent(depth=2), "nodes": 200, "plies": 4}
    few = grow_book(SMALL_FOUR, path, positions=15, **how)
    assert 15 <= len(few) < 20
    judged = []

    class Counting(MinimaxAgent):
        def search_state(self, game, state=None):
            judged.append(state)
            return super().search_state(game, state)

    more = grow_book(SMALL_FOUR, path, **(how | {"agent": Counting(depth=2)}))
    every = grow_book(SMALL_FOUR, once, **how)
    assert len(few) < len(more) == len(every)
    assert np.array_equal(more.keys, every.keys)
    assert len(judged) <= len(every) - len(few)


@pytest.mark.thorough
def test_a_book_is_the_same_wherever_it_is_evaluated_and_after_an_interruption(tmp_path):
    how = {"agent": make_agent("mcts(simulations=50)"), "nodes": 10, "positions": 300}
    here = grow_book(TICTACTOE, tmp_path / "here.zbook", **how)
    there = grow_book(TICTACTOE, tmp_path / "there.zbook", runner=make_runner(2), **how)

    def stop(progress):
        if progress.positions == 201:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grow_book(TICTACTOE, tmp_path / "again.zbook", on_progress=stop, **how)
    assert len(read_book(tmp_path / "again.zbook")) == 201
    again = grow_book(TICTACTOE, tmp_path / "again.zbook", **how)
    for other in (there, again):
        assert np.array_equal(here.keys, other.keys)
        assert np.array_equal(here.values, other.values)
        assert np.array_equal(here.flags, other.flags)


def test_better_lines_grow_first(tmp_path):
    """After a corner only the centre holds the draw: what follows it is there before what follows a blunder."""
    book = grow_book(TICTACTOE, tmp_path / "book.zbook", positions=60)
    corner = TICTACTOE.result(TICTACTOE.initial_state(), 0)
    assert book.moves(TICTACTOE, TICTACTOE.result(corner, 4))
    assert not any(book.moves(TICTACTOE, TICTACTOE.result(corner, reply)) for reply in (1, 2, 5, 8))


def test_lines_and_outline(whole):
    lines = book_lines(whole, TICTACTOE, TICTACTOE.initial_state(), count=6, plies=3, seed=1)
    assert len(lines) == len(set(lines)) == 6
    assert all(len(line) == 3 for line in lines)
    assert lines == book_lines(whole, TICTACTOE, TICTACTOE.initial_state(), count=6, plies=3, seed=1)
    text = list(outline(whole, TICTACTOE, TICTACTOE.initial_state(), depth=2, name=lambda *about: str(about[2])))
    assert text[0] == "* 0  +0.000 proven"
    assert text[1] == "  * 4  +0.000 proven"


def test_tournaments_open_with_lines_of_a_book(whole):
    name = "classic/tictactoe-v3"
    env = make(name)
    env.reset(seed=0)
    found = openings_for(f"book:{whole}", name, env, count=5, seed=3).openings
    assert len(found) == 5
    assert all(len(opening.actions) == 8 for opening in found)
    with pytest.raises(InvalidSettingError, match="there is no opening book"):
        openings_for("book:nothing.zbook", name, env, count=5, seed=3)


def test_another_game_s_book_and_a_damaged_one_are_refused(whole, tmp_path):
    with pytest.raises(InvalidSettingError, match="is for MNK, not for MNK"):
        make_agent(f"alphabeta(depth=1, book={whole!r})").search_state(MNK(4, 3, 3))
    with pytest.raises(InvalidSettingError, match="is for MNK, not for"):
        grow_book(SMALL_FOUR, whole, positions=9)
    content = Path(whole).read_bytes()
    damaged = tmp_path / "damaged.zbook"
    damaged.write_bytes(content[:900] + bytes([content[900] ^ 1]) + content[901:])
    with pytest.raises(InvalidSettingError, match="damaged"):
        read_book(damaged)
    with pytest.raises(InvalidSettingError, match="without end"):
        grow_book(SMALL_FOUR, tmp_path / "new.zbook")
    with pytest.raises(UnsupportedGameError, match="chance"):
        grow_book(Pig(20), tmp_path / "new.zbook", positions=9)


def test_polyglot_books_of_chess(tmp_path):
    chess = pytest.importorskip("chess")
    polyglot = pytest.importorskip("chess.polyglot")
    board = chess.Board()
    entries = []
    for text, weight in (("e2e4", 3), ("d2d4", 1)):
        move = chess.Move.from_uci(text)
        raw = move.to_square | move.from_square << 6
        entries.append(struct.pack(">QHHI", polyglot.zobrist_hash(board), raw, weight, 0))
    path = tmp_path / "book.bin"
    path.write_bytes(b"".join(entries))
    rules = Chess()
    player = make_agent(f"alphabeta(depth=1, book={str(path)!r})")
    found = player.search_state(rules)
    names = {rules.action_text(rules.initial_state(), action): share for action, share in found.policy.items()}
    assert names == {"e4": 0.75, "d4": 0.25}
    with pytest.raises(InvalidSettingError, match="is a Polyglot book, which is for chess"):
        player.search_state(TICTACTOE)
