"""Who is better? Matches, tournaments and the tables they end in."""

from zermelo.evaluation.errors import (
    AgentStartError,
    EnvironmentFailureError,
    StoreError,
    TournamentInterrupted,
    WorkerError,
)
from zermelo.evaluation.match.play import play_match
from zermelo.evaluation.match.record import EndReason, Failure, FailureKind, GameRecord, Move
from zermelo.evaluation.match.score import Outcome
from zermelo.evaluation.sandbox import Isolate, Isolation
from zermelo.evaluation.schedule import Pairings, Schedule, ScheduledGame, gauntlet_schedule, round_robin_schedule
from zermelo.evaluation.stats.ratings import (
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
from zermelo.evaluation.stats.standings import Row, SeatScore, Standings
from zermelo.evaluation.storage.sqlite_store import SqliteStore
from zermelo.evaluation.storage.store import MemoryStore, Store, StoredGames, read_games
from zermelo.evaluation.tournament.plan import Tournament, gauntlet, read_standings, round_robin
from zermelo.evaluation.training.evaluate import PolicyRating, RungScore, evaluate_policy

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
