"""Who is better? Matches, tournaments and the tables they end in."""

from zermelo.evaluation.errors import (
    AgentStartError,
    EnvironmentFailureError,
    StoreError,
    TournamentInterrupted,
    WorkerError,
)
from zermelo.evaluation.isolation import Isolate, Isolation
from zermelo.evaluation.match import play_match
from zermelo.evaluation.pairings import Pairings
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
from zermelo.evaluation.schedule import Schedule, ScheduledGame, gauntlet_schedule, round_robin_schedule
from zermelo.evaluation.score import Outcome
from zermelo.evaluation.sqlite_store import SqliteStore
from zermelo.evaluation.standings import Row, SeatScore, Standings
from zermelo.evaluation.store import MemoryStore, Store, StoredGames, read_games
from zermelo.evaluation.tournament import Tournament, gauntlet, read_standings, round_robin
from zermelo.evaluation.training import PolicyRating, RungScore, evaluate_policy

__all__ = [
    "AgentStartError",
    "EloEstimate",
    "EndReason",
    "EnvironmentFailureError",
    "Failure",
    "FailureKind",
    "GameCounts",
    "GameRecord",
    "Isolate",
    "Isolation",
    "MemoryStore",
    "Move",
    "Outcome",
    "Pairings",
    "PolicyRating",
    "RatingTable",
    "Row",
    "RungScore",
    "Schedule",
    "ScheduledGame",
    "SeatScore",
    "Sprt",
    "SprtResult",
    "SqliteStore",
    "Standings",
    "Store",
    "StoreError",
    "StoredGames",
    "Tournament",
    "TournamentInterrupted",
    "WorkerError",
    "count_pairs",
    "elo",
    "evaluate_policy",
    "fit_ratings",
    "gauntlet",
    "gauntlet_schedule",
    "play_match",
    "read_games",
    "read_standings",
    "round_robin",
    "round_robin_schedule",
    "sprt",
]
