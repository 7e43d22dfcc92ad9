"""Who is better? Matches, tournaments and the tables they end in."""

from typing import TYPE_CHECKING

from zermelo.envs.lazy_names import lazy_names

if TYPE_CHECKING:
    from zermelo.evaluation.errors import (
        AgentStartError,
        EnvironmentFailureError,
        StoreError,
        TournamentInterrupted,
        WorkerError,
    )
    from zermelo.evaluation.match.play import play_match
    from zermelo.evaluation.match.record import EndReason, Failure, FailureKind, GameRecord, Move
    from zermelo.evaluation.match.score import Outcome, Scoring
    from zermelo.evaluation.output.tree import TreeDrawing, draw_tree
    from zermelo.evaluation.sandbox import Isolate, Isolation
    from zermelo.evaluation.schedule import Pairings, Schedule, ScheduledGame
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
    from zermelo.evaluation.stats.rewards import MeanReward
    from zermelo.evaluation.stats.standings import Standings
    from zermelo.evaluation.stats.tally import Row, SeatScore
    from zermelo.evaluation.storage.sqlite_store import SqliteStore
    from zermelo.evaluation.storage.store import MemoryStore, Store, StoredGames, read_games
    from zermelo.evaluation.tournament.plan import Tournament
    from zermelo.evaluation.tournament.run import gauntlet, read_standings, round_robin
    from zermelo.evaluation.training.curve import RatingCurve
    from zermelo.evaluation.training.evaluate import PolicyRating, evaluate_policy

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
    "MeanReward",
    "MemoryStore",
    "Move",
    "Outcome",
    "Pairings",
    "PolicyRating",
    "RatingCurve",
    "RatingTable",
    "Row",
    "Schedule",
    "ScheduledGame",
    "Scoring",
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
    "TreeDrawing",
    "WorkerError",
    "count_pairs",
    "draw_tree",
    "elo",
    "evaluate_policy",
    "fit_ratings",
    "gauntlet",
    "play_match",
    "read_games",
    "read_standings",
    "round_robin",
    "sprt",
]

if not TYPE_CHECKING:  # a type checker would take every name for one of ours
    __getattr__ = lazy_names(
        __name__,
        {
            "errors": "AgentStartError EnvironmentFailureError StoreError TournamentInterrupted WorkerError",
            "match.play": "play_match",
            "match.record": "EndReason Failure FailureKind GameRecord Move",
            "match.score": "Outcome Scoring",
            "output.tree": "TreeDrawing draw_tree",
            "sandbox": "Isolate Isolation",
            "schedule": "Pairings Schedule ScheduledGame",
            "stats.ratings": "EloEstimate GameCounts RatingTable Sprt SprtResult count_pairs elo fit_ratings sprt",
            "stats.rewards": "MeanReward",
            "stats.standings": "Standings",
            "stats.tally": "Row SeatScore",
            "storage.sqlite_store": "SqliteStore",
            "storage.store": "MemoryStore Store StoredGames read_games",
            "tournament.plan": "Tournament",
            "tournament.run": "gauntlet read_standings round_robin",
            "training.curve": "RatingCurve",
            "training.evaluate": "PolicyRating evaluate_policy",
        },
    )
