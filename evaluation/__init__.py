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
    from zermelo.evaluation.output.standings import Standings
    from zermelo.evaluation.output.tree import TreeDrawing, draw_tree
    from zermelo.evaluation.results import GameCounts, Results, Score, count_pairs
    from zermelo.evaluation.sandbox import Isolate, Isolation
    from zermelo.evaluation.schedule import Pairings, Schedule, ScheduledGame
    from zermelo.evaluation.stats.ratings import (
        EloEstimate,
        RatingTable,
        Sprt,
        SprtResult,
        elo,
        fit_ratings,
        sprt,
    )
    from zermelo.evaluation.stats.rewards import MeanReward
    from zermelo.evaluation.stats.rows import Row, SeatScore
    from zermelo.evaluation.storage.games import StoredGames, read_games
    from zermelo.evaluation.storage.store import Store
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
    "Move",
    "Outcome",
    "Pairings",
    "PolicyRating",
    "RatingCurve",
    "RatingTable",
    "Results",
    "Row",
    "Schedule",
    "ScheduledGame",
    "Score",
    "Scoring",
    "SeatScore",
    "Sprt",
    "SprtResult",
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
    __getattr__, _ = lazy_names(
        __name__,
        {
            "errors": "AgentStartError EnvironmentFailureError StoreError TournamentInterrupted WorkerError",
            "match.play": "play_match",
            "match.record": "EndReason Failure FailureKind GameRecord Move",
            "match.score": "Outcome Scoring",
            "output.standings": "Standings",
            "output.tree": "TreeDrawing draw_tree",
            "results": "GameCounts Results Score count_pairs",
            "sandbox": "Isolate Isolation",
            "schedule": "Pairings Schedule ScheduledGame",
            "stats.ratings": "EloEstimate RatingTable Sprt SprtResult elo fit_ratings sprt",
            "stats.rewards": "MeanReward",
            "stats.rows": "Row SeatScore",
            "storage.games": "StoredGames read_games",
            "storage.store": "Store",
            "tournament.plan": "Tournament",
            "tournament.run": "gauntlet read_standings round_robin",
            "training.curve": "RatingCurve",
            "training.evaluate": "PolicyRating evaluate_policy",
        },
    )
