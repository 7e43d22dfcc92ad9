"""Alpha-beta: minimax's value, without looking at what cannot change it."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any, ClassVar

from zermelo.agents.core.checks import check_choice, check_flag, check_number, check_whole
from zermelo.agents.core.gate import require_deterministic, require_perfect_information, require_two_opposed
from zermelo.agents.core.options import Ordering
from zermelo.agents.core.result import SearchResult
from zermelo.agents.core.tree_search import TreeSearch
from zermelo.agents.players.search_agent import TreeSearchAgent
from zermelo.agents.search import backend
from zermelo.agents.solving.root_proof import ProvenRoot, can_settle, load_proof, proof_megabytes, prove_root
from zermelo.envs import Game, InvalidSettingError, Traits, UnsupportedGameError, as_game

__all__ = ["AlphaBetaAgent", "Window"]


class Window(enum.StrEnum):
    """Where alpha and beta start."""

    BOUNDS = "bounds"
    """At the game's lower and upper bound on utility: nothing is better than a win."""
    FULL = "full"
    """At minus and plus infinity, as in textbooks; bounds are not used anywhere."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AlphaBetaAgent(TreeSearchAgent):
    """Alpha-beta, with what makes it strong: a table, move ordering, iterative deepening, quiescence.

    For two players with a constant sum, no chance and nothing hidden. With ``quiescence=0``, or in a game without
    noisy actions, it finds minimax's value to the same depth, whatever the other settings; table and ordering only
    decide how soon. Late-move reductions and null moves, off unless asked for, trade that away for depth.

    The plain algorithm that textbooks count nodes with is
    ``AlphaBetaAgent(window="full", sooner=False, ordering="fixed", table_mb=0, ties="first")``.

    Attributes:
        exact: Whether every root action gets its exact value, not only those that are best.
        table_mb: The memory that the transposition table may use, in MiB; 0 does without.
        ordering: ``"auto"``, or ``"fixed"`` for ascending.
        quiescence: How many moves beyond the depth limit to follow noisy actions (captures, say), in games that
            tell them (``is_noisy``); 0 does not.
        window: ``"bounds"``, or ``"full"`` for minus to plus infinity.
        deepening: Whether to search one move deep first, then two, and so on; None does so where a node or time
            limit may stop the search half way, and where a table carries over what one iteration learns.
        threads: How many threads search together, where the game has compiled rules; plain Python uses one. The
            value does not depend on it (with late-move reductions or null moves it may), but with more than one
            the nodes visited differ from run to run.
        proof_share: How much of a time limit may go into proving who wins, after a short search, in games of
            compiled rules that are won, drawn or lost and have the hook ``bounds``. What is proven, and which
            actions keep it, is then known to the search; ``proven`` says so. A quarter of ``table_mb``, 16 at
            most, serves it. Not with ``exact``, a full window, a cut-off test or other limits; 0 proves nothing.
        late_move_reductions: After how many actions of a node the others, which come late in the order and are
            seldom best, are first searched one move less deep, and to the full depth only if they turn out better
            than what is known. Not at the root, not in the last two moves, not for noisy actions and not for those
            that leave the turn where it is. 3 is usual; 0, the default, reduces nothing. What is late depends on
            what was searched before, so with a table compiled and plain searches need not find the same value.
        null_move: How many moves less deep to search, at each node below the root, what follows if the player to
            move skips its turn: if that is good enough already, so is the node, and it is not searched. 2 is
            usual; 0, the default, skips nothing. Only for games that say how (``pass_turn(state)``), and only good
            in those in which having to move seldom hurts.
        aspiration: How far from the last iteration's value the next one looks at first, in the game's utility
            (aspiration windows); if the value lies further away, it is searched again. It changes how long a
            search takes, never what it finds; 0, the default, looks everywhere at once.
        futility: How much a quiet action may add to a state's evaluation, in the game's utility: one move before
            the depth limit, quiet actions that even so do not matter are left out (futility pruning). 0, the
            default, leaves nothing out. In plain Python only.
        singular: By how much, in the game's utility, one action must seem better than all others to be searched
            one move deeper (singular extensions; 0, the default, extends nothing). It needs a table. In plain
            Python only.
        keep_table: Whether the transposition table of one move serves the next ones of the same game, until
            ``reset``; it saves what was searched already, and the time to empty a table. Not together with a
            cut-off test, and only where ``as_game`` gives an equal game for each move, as for compiled rules.
    """

    kind: ClassVar[str] = "alphabeta"

    exact: bool = False
    table_mb: float = 64
    ordering: Ordering = Ordering.AUTO
    quiescence: int = 8
    window: Window = Window.BOUNDS
    deepening: bool | None = None
    threads: int = 1
    proof_share: float = 0.5
    late_move_reductions: int = 0
    null_move: int = 0
    aspiration: float = 0.0
    futility: float = 0.0
    singular: float = 0.0
    keep_table: bool = False

    def __post_init__(self) -> None:
        check_flag("exact", self.exact)
        check_number("table_mb", self.table_mb, least=0)
        check_whole("quiescence", self.quiescence)
        check_whole("threads", self.threads, least=1)
        check_number("proof_share", self.proof_share, least=0)
        if self.proof_share > 1:
            raise InvalidSettingError(f"proof_share must be at most 1, not {self.proof_share!r}")
        check_whole("late_move_reductions", self.late_move_reductions)
        check_whole("null_move", self.null_move)
        check_flag("keep_table", self.keep_table)
        for name in ("aspiration", "futility", "singular"):
            check_number(name, getattr(self, name), least=0)
        if self.deepening is not None:
            check_flag("deepening", self.deepening)
        self._set("ordering", check_choice("ordering", self.ordering, Ordering))
        self._set("window", check_choice("window", self.window, Window))
        super().__post_init__()

    def check_game(self, traits: Traits) -> None:
        """Two players, opposed, without chance, with everything seen."""
        require_perfect_information(traits, self.kind)
        require_deterministic(traits, self.kind)
        require_two_opposed(traits, self.kind)

    def prepare(self, env: Any) -> None:
        """Compiles, or loads, what searching this environment will need, so that no move's time pays for it."""
        game = as_game(env, backend=self.backend, traits=self.traits)
        backend.load_alpha_beta(game)
        if self._proof_seconds(game):
            load_proof(game)

    def choose(self, game: Game[Any], state: Any, started: float) -> SearchResult:
        """Searches a state that this agent can search and in which there is something to decide."""
        if self.null_move and not hasattr(game, "pass_turn"):
            raise UnsupportedGameError(
                f"null_move={self.null_move} needs a game in which a turn can be skipped (pass_turn), which "
                f"{game.traits.name} is not: leave null_move out"
            )
        step_by_step = self.deepening
        if step_by_step is None:
            step_by_step = self.has_budget or (self.depth is not None and self.table_mb > 0)
        has_depth = step_by_step or self.depth is not None  # a search to the end at once has none to reduce
        proof_seconds = self._proof_seconds(game)
        proof_mb = proof_megabytes(self.table_mb) if proof_seconds else 0
        search = backend.alpha_beta(
            game,
            self.evaluator_for(game, state),
            self.new_budget(started),
            limits=self.limits,
            ordering=self.ordering,
            table_mb=self.table_mb - proof_mb,
            threads=self.threads,
            cutoff=self.cutoff_test,
            on_node=self.observer,
            sooner=self.sooner,
            use_bounds=self.window is Window.BOUNDS,
            quiescence=self.quiescence,
            late_move_reductions=self.late_move_reductions if has_depth else 0,
            null_move=self.null_move if has_depth else 0,
            futility=self.futility if has_depth else 0.0,
            singular=self.singular if has_depth else 0.0,
            kept=self._kept_table(game),
        )
        if self.keep_table:
            self._set("_kept", (game, search.table))
        if proof_seconds and backend.is_compiled(search):
            search = prove_root(
                self,
                search,
                state,
                started=started,
                until=proof_seconds,
                table_mb=proof_mb,
                threads=self.threads,
            )
        return self.deepened(
            search, state, step_by_step=step_by_step, exact=self.exact, aspiration=self.aspiration
        )

    def adjusted(self, search: TreeSearch, state: Any, result: SearchResult) -> SearchResult:
        """What the search found, and what was proven before it."""
        return search.adjusted(state, result) if isinstance(search, ProvenRoot) else result

    def reset(self, seed: int | None = None) -> None:
        """Starts a new game: what was kept of the last one is forgotten."""
        super().reset(seed)
        self._set("_kept", (None, None))

    def _kept_table(self, game: Game[Any]) -> Any:
        """The table of the move before, if it is to serve again."""
        kept_game, table = self.__dict__["_kept"]
        return table if self.keep_table and self.cutoff is None and kept_game == game else None

    def _proof_seconds(self, game: Game[Any]) -> float:
        """How much of the time may go into proving who wins; 0 where nothing is proven."""
        if self.seconds is None or self.depth is not None or self.nodes is not None or not self.table_mb:
            return 0.0
        if self.exact or self.cutoff is not None or self.window is Window.FULL or not can_settle(game):
            return 0.0
        return self.proof_share * self.seconds
