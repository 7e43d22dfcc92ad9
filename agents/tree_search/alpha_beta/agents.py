"""Alpha-beta: minimax's value, without looking at what cannot change it."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.machine import thread_count
from zermelo.agents.base.request import Request
from zermelo.agents.base.requirements import require_plain_game
from zermelo.agents.base.settings import Compile, choice, integer, number, path
from zermelo.agents.tree_search.agent import TreeSearchAgent
from zermelo.agents.tree_search.alpha_beta.searches import ALPHA_BETA
from zermelo.agents.tree_search.interface import SearchSetup, TreeOutcome
from zermelo.agents.tree_search.settings import AlphaBetaConfig, ChancePruning, PruningSettings, SelectiveSettings
from zermelo.envs.capabilities import SupportsNullMove, SupportsSearchSettings, offers
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.game import Game
from zermelo.envs.position import Position, position
from zermelo.envs.rules.rules_game import RulesGame
from zermelo.envs.support.calls import checked_call
from zermelo.envs.traits.merging import PATIENCE

if TYPE_CHECKING:
    from zermelo.agents.workers.news import News
    from zermelo.envs.jit.kernel import Wanted


class Window(enum.StrEnum):
    """The initial window."""

    BOUNDS = "bounds"
    """At the game's lower and upper bound on utility: nothing is better than a win."""
    FULL = "full"
    """At minus and plus infinity, as in textbooks; bounds are not used anywhere."""


class SelectiveBy(enum.StrEnum):
    """The source of reductions."""

    SETTINGS = "settings"
    GAME = "game"
    """Its rules, by ``search_settings("selective")``: what paid in games against an agent without."""


@checked_call
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AlphaBetaAgent(SelectiveSettings, PruningSettings, TreeSearchAgent):
    """Alpha-beta, with what makes it strong: a table, move ordering, iterative deepening, quiescence.

    For two players with a constant sum, no chance and nothing hidden. With ``quiescence=0``, or in a game without
    noisy actions, it finds minimax's value to the same depth, whatever the other settings; table and ordering only
    decide how soon. Late-move reductions and null moves, off unless asked for, trade that away for depth.

    The plain algorithm that textbooks count nodes with is ``AlphaBetaAgent(depth="full", window="full",
    prefer_short_wins=False, ordering="fixed", memory_mb=0, ties="first")``.

    Attributes:
        quiescence: How many moves beyond the depth limit to follow noisy actions, such as captures, in games that
            have ``is_noisy``.
        window: Where alpha and beta start: ``"bounds"``, or ``"full"`` for minus to plus infinity.
        threads: Threads that search together, where rules are compiled. The nodes visited depend on it; the value
            may too with ``late_move_reductions``, ``null_move``, ``futility`` or ``share_positions``. At most
            eight for each processor, or 64.
        proof_share: The share of a time limit that may go into proving who wins, in games whose compiled rules
            have ``bounds``. The result's ``proven`` says what was proven, and the search knows which actions keep
            it. It uses a quarter of ``memory_mb``, 16 MiB at most. Not with ``exact``, a full window, a stop test
            or other limits.
        selective: Where ``late_move_reductions``, ``null_move``, ``futility`` and ``share_positions`` come from:
            ``"settings"``, from the agent alone; ``"game"``, also from the game's rules, where they say what pays.
        tables: A file with an endgame table (``zermelo table``), whose positions are proven leaves.
        book: A file with an opening book (``zermelo book``, or Polyglot's for chess), to play from at random among
            good moves.

    ``SelectiveSettings`` has what may be searched less deep.
    """

    kind: ClassVar[str] = "alphabeta"
    family = ALPHA_BETA
    requires = (require_plain_game,)

    quiescence: int = integer(8, "plies")
    window: Window = choice(Window.BOUNDS)
    threads: int = thread_count(1)
    proof_share: float = number(0.5, "share of the time", lower=0, upper=1)
    selective: SelectiveBy = choice(SelectiveBy.SETTINGS)
    tables: str | None = path()
    book: str | None = path()

    def prepare(self, env: Any, seconds: float = PATIENCE) -> None:
        super().prepare(env, seconds)
        game = position(env, backend=self.backend, traits=self.traits).game
        budget = Budget(self.limits, compile=self.compile)
        if self._proof_seconds(game, budget):
            from zermelo.agents.tree_search.exact.root_proof import load_proof

            load_proof(game, budget)

    def kernels(self, root: Position) -> list[Wanted]:
        found = super().kernels(root)
        if found and self._may_prove(root.game):
            from zermelo.agents.tree_search.exact.prover import PROOF
            from zermelo.envs.jit.kernel import Wanted

            found.append(Wanted(root.game.rules, PROOF.kernel()))
        return found

    def config_for(self, root: SearchSetup) -> AlphaBetaConfig:
        game, config = root.game, self.config
        if self.selective is SelectiveBy.GAME and offers(game, SupportsSearchSettings):
            names = [field.name for field in dataclasses.fields(SelectiveSettings)]
            own = {name: getattr(self, name) for name in names if getattr(self, name)}
            config = dataclasses.replace(config, **{**game.search_settings("selective"), **own})
        if config.null_move and not offers(game, SupportsNullMove):
            raise UnsupportedGameError(
                f"null_move={config.null_move} needs a game in which a turn can be skipped (pass_turn), "
                f"which {game.traits.name} is not: leave null_move out"
            )
        return config

    def searched(self, request: Request, budget: Budget, news: News | None = None) -> TreeOutcome:
        proof_seconds = self._proof_seconds(request.game, budget)
        if not proof_seconds:
            return super().searched(request, budget, news)
        from zermelo.agents.tree_search.exact.root_proof import proof_megabytes, prove_root

        proof_mb = proof_megabytes(self.memory_mb)
        root = self.root(request.game, request.state, request.legal)
        config = dataclasses.replace(self.config_for(root), memory_mb=self.memory_mb - proof_mb)
        search = self.build(config, root, budget)
        if request.share is not None:
            proof_seconds = min(proof_seconds, self.proof_share * request.share.usual)
        if search.compiled:
            search.proof = prove_root(
                self, search, request.state, until=proof_seconds, memory_mb=proof_mb, threads=self.threads
            )
        return self.run(request, search, root)

    @property
    def fixed(self) -> Mapping[str, Any]:
        return {"use_bounds": self.window is Window.BOUNDS}

    def _proof_seconds(self, game: Game[Any], budget: Budget) -> float:
        """How much of the time may go into proving who wins; 0 where nothing is proven."""
        seconds = self.limits.seconds
        if seconds is None or budget.compile is Compile.NEVER:
            return 0.0
        with budget.off_the_clock():  # the first search of a process imports the proof
            return self.proof_share * seconds if self._may_prove(game) else 0.0

    def _may_prove(self, game: Game[Any]) -> bool:
        """True if part of the time may go into proving who wins."""
        limits = self.limits
        if limits.seconds is None or limits.depth is not None or limits.nodes is not None or not self.memory_mb:
            return False
        if self.exact or self.stop_test is not None or self.window is Window.FULL or not self.proof_share:
            return False
        if not isinstance(game, RulesGame):
            return False
        from zermelo.agents.tree_search.exact.root_proof import can_settle

        return can_settle(game)


@checked_call
@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class MinimaxAgent(TreeSearchAgent):
    """Minimax over the whole tree, or down to ``depth``; the value of every root action is exact.

    For two players with a constant sum, no chance and nothing hidden. ``AlphaBetaAgent`` gives the same values and
    is faster.
    """

    kind: ClassVar[str] = "minimax"
    family = ALPHA_BETA
    requires = (require_plain_game,)

    @property
    def fixed(self) -> Mapping[str, Any]:
        return {"pruning": ChancePruning.NONE}
