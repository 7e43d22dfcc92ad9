"""Matches, tournaments and their tables: which agent is better, and how sure that is."""

from typing import TYPE_CHECKING

from zermelo.envs.support.lazy_names import lazy_names

if TYPE_CHECKING:
    from zermelo.evaluation.errors import AgentStartError as AgentStartError
    from zermelo.evaluation.errors import EnvironmentFailureError as EnvironmentFailureError
    from zermelo.evaluation.errors import StoreError as StoreError
    from zermelo.evaluation.errors import TournamentInterrupted as TournamentInterrupted
    from zermelo.evaluation.errors import WorkerError as WorkerError
    from zermelo.evaluation.match.play import play_match as play_match
    from zermelo.evaluation.match.record import EndReason as EndReason
    from zermelo.evaluation.match.record import Failure as Failure
    from zermelo.evaluation.match.record import FailureKind as FailureKind
    from zermelo.evaluation.match.record import GameRecord as GameRecord
    from zermelo.evaluation.match.record import Move as Move
    from zermelo.evaluation.match.score import Outcome as Outcome
    from zermelo.evaluation.match.score import Scoring as Scoring
    from zermelo.evaluation.output.standings import Standings as Standings
    from zermelo.evaluation.results import GameCounts as GameCounts
    from zermelo.evaluation.results import Results as Results
    from zermelo.evaluation.results import Score as Score
    from zermelo.evaluation.schedule import Pairings as Pairings
    from zermelo.evaluation.schedule import Schedule as Schedule
    from zermelo.evaluation.schedule import ScheduledGame as ScheduledGame
    from zermelo.evaluation.search_trees import TreeDrawing as TreeDrawing
    from zermelo.evaluation.search_trees import draw_tree as draw_tree
    from zermelo.evaluation.stats.ratings import EloEstimate as EloEstimate
    from zermelo.evaluation.stats.ratings import RatingTable as RatingTable
    from zermelo.evaluation.stats.ratings import Sprt as Sprt
    from zermelo.evaluation.stats.ratings import SprtResult as SprtResult
    from zermelo.evaluation.stats.ratings import elo as elo
    from zermelo.evaluation.stats.ratings import fit_ratings as fit_ratings
    from zermelo.evaluation.stats.ratings import sprt as sprt
    from zermelo.evaluation.stats.rewards import MeanReward as MeanReward
    from zermelo.evaluation.stats.rows import Row as Row
    from zermelo.evaluation.stats.rows import SeatScore as SeatScore
    from zermelo.evaluation.storage.games import StoredGames as StoredGames
    from zermelo.evaluation.storage.games import read_games as read_games
    from zermelo.evaluation.storage.store import Store as Store
    from zermelo.evaluation.tournament.plan import Tournament as Tournament
    from zermelo.evaluation.tournament.run import gauntlet as gauntlet
    from zermelo.evaluation.tournament.run import read_standings as read_standings
    from zermelo.evaluation.tournament.run import round_robin as round_robin
    from zermelo.evaluation.training.curve import RatingCurve as RatingCurve
    from zermelo.evaluation.training.evaluate import PolicyRating as PolicyRating
    from zermelo.evaluation.training.evaluate import evaluate_policy as evaluate_policy
    from zermelo.evaluation.workers import Isolate as Isolate
    from zermelo.evaluation.workers import Isolation as Isolation

if not TYPE_CHECKING:  # a type checker would take every name for one of ours
    __getattr__, __all__ = lazy_names(
        __name__,
        {
            "errors": "AgentStartError EnvironmentFailureError StoreError TournamentInterrupted WorkerError",
            "match.play": "play_match",
            "match.record": "EndReason Failure FailureKind GameRecord Move",
            "match.score": "Outcome Scoring",
            "output.standings": "Standings",
            "results": "GameCounts Results Score",
            "schedule": "Pairings Schedule ScheduledGame",
            "search_trees": "TreeDrawing draw_tree",
            "stats.ratings": "EloEstimate RatingTable Sprt SprtResult elo fit_ratings sprt",
            "stats.rewards": "MeanReward",
            "stats.rows": "Row SeatScore",
            "storage.games": "StoredGames read_games",
            "storage.store": "Store",
            "tournament.plan": "Tournament",
            "tournament.run": "gauntlet read_standings round_robin",
            "training.curve": "RatingCurve",
            "training.evaluate": "PolicyRating evaluate_policy",
            "workers": "Isolate Isolation",
        },
    )
