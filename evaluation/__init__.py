"""Who is better? Matches, tournaments and the tables they end in."""

from zermelo.evaluation.errors import (
    AgentStartError,
    EnvironmentFailureError,
    StoreError,
    TournamentInterrupted,
    WorkerError,
)
from zermelo.evaluation.match import play_match
from zermelo.evaluation.ratings import (
    EloEstimate,
    GameCounts,
    RatingTable,
    Sprt,
    SprtResult,
    count_pairs,
    elo,
    fit_ratings,
    sprt,
)
from zermelo.evaluation.record import EndReason, Failure, FailureKind, GameRecord, Move
from zermelo.evaluation.schedule import ScheduledGame, round_robin_schedule
from zermelo.evaluation.score import Outcome
from zermelo.evaluation.standings import Row, SeatScore, Standings
from zermelo.evaluation.store import JsonLinesStore, Store, read_games
from zermelo.evaluation.tournament import Tournament, round_robin

__all__ = [
    "AgentStartError",
    "EloEstimate",
    "EndReason",
    "EnvironmentFailureError",
    "Failure",
    "FailureKind",
    "GameCounts",
    "GameRecord",
    "JsonLinesStore",
    "Move",
    "Outcome",
    "RatingTable",
    "Row",
    "ScheduledGame",
    "SeatScore",
    "Sprt",
    "SprtResult",
    "Standings",
    "Store",
    "StoreError",
    "Tournament",
    "TournamentInterrupted",
    "WorkerError",
    "count_pairs",
    "elo",
    "fit_ratings",
    "play_match",
    "read_games",
    "round_robin",
    "round_robin_schedule",
    "sprt",
]
