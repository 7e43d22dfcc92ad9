"""Records of games that nobody played: of a toy, and random tic-tac-toe, made much faster than by a match."""

import json
import random

from zermelo.evaluation import GameRecord
from zermelo.evaluation.match.record import EndReason, Failure, FailureKind, Move

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
NAMES = ("strong", "middling", "weak", "broken")


def tictactoe_game(generator):
    """Actions in the numbering of ``classic/tictactoe-v3``, and the rewards."""
    board, actions = [None] * 9, []
    for ply, cell in enumerate(generator.sample(range(9), 9)):
        board[cell] = ply % 2
        actions.append(cell)
        if any(board[a] is not None and board[a] == board[b] == board[c] for a, b, c in LINES):
            return actions, (1.0, -1.0) if ply % 2 == 0 else (-1.0, 1.0)
    return actions, (0.0, 0.0)


def made_record(number, generator, names=NAMES):
    """One game between two of the agents; the last of them fails in one game of five."""
    first, second = generator.sample(range(len(names)), 2)
    actions, rewards = tictactoe_game(generator)
    failure = None
    last = len(names) - 1
    if last in (first, second) and generator.random() < 0.2:
        kind = generator.choice([FailureKind.CRASH, FailureKind.ILLEGAL_ACTION])
        failure = Failure(kind, (first, second).index(last), "act raised ValueError: </script><b>no</b>")
        rewards, actions = (0.0, 0.0), actions[:2]
    moves = tuple(
        Move(ply % 2, action, 0.001 * (ply + 1), *((10 * ply, ply, 0.5) if ply % 2 else ()))
        for ply, action in enumerate(actions)
    )
    return GameRecord(
        env="classic/tictactoe-v3",
        agents=(names[first], names[second]),
        seat_names=("player_1", "player_2"),
        seed=number,
        rewards=rewards,
        end=EndReason.TERMINATED if failure is None else EndReason.FAILURE,
        game_id=f"{number}.0.0",
        moves=moves,
        failure=failure,
        seconds=0.01,
        versions={"zermelo": "0"},
    )


def made_records(count, seed=0, names=NAMES):
    """Any number of them, one at a time."""
    generator = random.Random(seed)
    for number in range(count):
        yield made_record(number, generator, names)


def toy_game(agents, rewards, game_id="", *, failure=None, actions=(), opening=(), seed=0):
    """A game that ended with these rewards; ``failure`` is a ``Failure``, or the seat whose agent crashed."""
    if isinstance(failure, int):
        failure = Failure(FailureKind.CRASH, failure, "act raised ValueError: oh")
    return GameRecord(
        env="toy",
        agents=tuple(agents),
        seat_names=tuple(f"player_{seat}" for seat in range(len(agents))),
        seed=seed,
        rewards=tuple(map(float, rewards)),
        end=EndReason.TERMINATED if failure is None else EndReason.FAILURE,
        game_id=game_id,
        failure=failure,
        opening=opening,
        moves=tuple(Move(k % len(agents), action, 0.002) for k, action in enumerate(actions)),
    )


def numbers_of(standings):
    """All numbers of standings but the timings."""
    data = json.loads(standings.to_json())
    for row in data["agents"]:
        del row["seconds_per_move"]
    return data
