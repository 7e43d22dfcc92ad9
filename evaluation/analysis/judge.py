"""Every move of every agent against perfect play, where perfect play can be proven.

A position is judged if exact search proves the value of every legal action, each within a budget of nodes. A game
is judged from its end backwards; where a position cannot be proven, neither it nor an earlier one of that game is
judged. Forced moves are neither judged nor counted.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import itertools
import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, Final

from zermelo.agents.base.requirements import require_facts
from zermelo.agents.base.settings import Ties, check_whole
from zermelo.agents.base.tasks import PureWork, Tasks
from zermelo.agents.tree_search.alpha_beta.agents import AlphaBetaAgent
from zermelo.agents.tree_search.chance.agents import ExpectiminimaxAgent
from zermelo.agents.tree_search.exact.prover import Prover, can_prove
from zermelo.envs.adapters.actions import codec_for
from zermelo.envs.adapters.as_game import as_game
from zermelo.envs.errors import UnsupportedGameError
from zermelo.envs.game import CHANCE, Chance
from zermelo.envs.live.wrappers import innermost
from zermelo.envs.support.files import file_version
from zermelo.evaluation.analysis import judgement
from zermelo.evaluation.analysis.judgement import EQUAL, AgentJudgement, GameVerdict, JudgeTable, Mark, MoveVerdict
from zermelo.evaluation.match.fingerprint import fingerprint
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.match.replay import Replayer, ReplayError
from zermelo.evaluation.match.sources import EnvSource

NODES: Final = 20_000  # the default budget for the position after each action
_COMPILED: Final = 100  # factor of the budget for compiled rules
_PLIES: Final = 1_000  # moves of a game that are judged, the last ones


def judge(
    records: Iterable[GameRecord],
    env: EnvSource | None = None,
    *,
    nodes: int = NODES,
    games: int | None = None,
    trust: bool = False,
    tables: str | None = None,
    runner: Any = None,
) -> JudgeTable:
    """Every move of every agent against perfect play, in the first ``games`` records, or in all.

    The records are read once and not kept; void games are left out. ``nodes`` is the budget of the exact search
    for the position after each action; what is in a file of ``tables`` is proven. ``env`` is by default that of
    the records; a module that they name is imported with ``trust`` only. ``runner`` judges elsewhere.

    Raises:
        UnsupportedGameError: There is no perfect play to compare with: hidden information, chance that cannot be
            enumerated, more than two seats, or two that are not opposed.
        ReplayError: Not one of the games can be played again.
    """
    judging = Judge(JudgeWork(env, nodes, trust, tables))
    for _ in judging.judged(records, games=games, runner=runner):
        pass
    return judging.table()


class Judge:
    """Counts what is found of games; ``table`` is the table so far."""

    def __init__(self, work: JudgeWork) -> None:
        self.games = 0
        self._work = work
        self._agents: dict[str, AgentJudgement] = {}
        self._met: dict[str, dict[str, list[int]]] = {}
        self._env = ""
        self._has_blunders, self._compiled = True, False
        self._lost: list[str] = []

    def judged(
        self,
        records: Iterable[GameRecord],
        known: Mapping[str, GameVerdict] = {},
        *,
        games: int | None = None,
        runner: Any = None,
    ) -> Iterator[GameVerdict]:
        """Yields what is found of each game that can be played again; ``known`` has earlier verdicts by id."""
        if games is not None:
            check_whole("games", games, lower=1)
        ours, asked = itertools.tee(itertools.islice((each for each in records if not each.void), games))

        def earlier(record: GameRecord) -> GameVerdict | None:
            verdict = known.get(record.game_id)
            return verdict if verdict is not None and verdict.of == self._work.question(record) else None

        with contextlib.closing(Tasks(self._work, runner)) as tasks:
            verdicts = tasks.map(record for record in asked if earlier(record) is None)
            for record in ours:
                verdict = earlier(record) or next(verdicts)
                self._env = self._env or record.env
                if isinstance(verdict, GameVerdict):
                    self._count(record, verdict)
                    yield verdict
                else:
                    self._lost.append(verdict)

    def _count(self, record: GameRecord, verdict: GameVerdict) -> None:
        self.games += 1
        self._has_blunders = self._has_blunders and verdict.has_blunders
        self._compiled = self._compiled or verdict.compiled
        lines = [self._agents.setdefault(name, AgentJudgement(name)) for name in record.agents]
        for line in {move.seat: lines[move.seat] for move in record.moves}.values():
            line.games += 1
        for line, count in zip(lines, verdict.unjudged, strict=True):
            line.unjudged += count
        first, plies = len(record.opening), len(record.opening) + len(record.moves)
        for move in verdict.moves:
            seat, best, worst = record.moves[move.ply - first].seat, move.groups[0][0], move.groups[-1][0]
            phase, matters = tuple(judgement.Phase)[min(2, 3 * move.ply // plies)], best - worst > EQUAL
            lines[seat].phases[phase].add(best, move.values[move.played], move.mark, matters=matters)
            if matters:
                met = self._met.setdefault(move.position, {}).setdefault(record.agents[seat], [0, 0])
                met[0] += 1
                met[1] += move.mark is Mark.OPTIMAL

    def table(self) -> JudgeTable:
        """The table of all games so far; raises ``ReplayError`` if not one of them could be played again."""
        if self._lost and not self.games:
            raise ReplayError(self._lost[0])
        notes, nodes = [], self._work.nodes * (_COMPILED if self._compiled else 1)
        if self._lost:
            count = "1 game is" if len(self._lost) == 1 else f"{len(self._lost)} games are"
            notes.append(f"{count} not judged: {self._lost[0]}")
        if self.games and not any(line.total.judged for line in self._agents.values()):
            notes.append(
                f"no position could be proven within {nodes:,} nodes: give more by --nodes N (it was "
                f"{self._work.nodes}), or a smaller game"
            )
        ranked = sorted(self._agents.values(), key=_rank)
        self._share()
        return JudgeTable(
            env=self._env, agents=tuple(ranked), games=self.games, nodes=nodes, compiled=self._compiled,
            has_blunders=self._has_blunders, notes=tuple(notes),
        )  # fmt: skip

    def _share(self) -> None:
        """Finds the positions that all agents met where it mattered, and how each did in them."""
        judged = [name for name, line in self._agents.items() if line.total.mattered]
        shared = [met for met in self._met.values() if len(met) == len(judged)]
        for name in judged if len(judged) > 1 else ():
            line = self._agents[name]
            line.shared = len(shared)
            line.shared_optimal = sum(met[name][1] / met[name][0] for met in shared)


@dataclasses.dataclass
class JudgeWork(PureWork):
    """The judgement of games as tasks of a runner, with the settings of ``judge``; an item is a record."""

    env: EnvSource | None = None
    nodes: int = NODES
    trust: bool = False
    tables: str | None = None

    def __post_init__(self) -> None:
        self._alpha_beta = AlphaBetaAgent(
            nodes=self.nodes, ties=Ties.FIRST, prefer_short_wins=False, tables=self.tables
        )
        self._expectiminimax = ExpectiminimaxAgent(nodes=self.nodes, ties=Ties.FIRST, prefer_short_wins=False)
        self._values: dict[Hashable, tuple[float, ...] | None] = {}
        self._codes: dict[str, str] = {}
        self._prover: Prover | None = None

    @functools.cached_property
    def _replayer(self) -> Replayer:
        return Replayer(self.env, trust=self.trust)

    def question(self, record: GameRecord) -> str:
        """What a verdict depends on: the limits, the table, the game, and the code of its environment."""
        table = () if self.tables is None else file_version(self.tables)[2:4]
        asked = (
            self.nodes, self.tables, *table, record.env, self._code_of(record), record.seed, record.actions,
            len(record.opening),
        )  # fmt: skip
        return hashlib.blake2b(repr(asked).encode(), digest_size=8).hexdigest()

    def _code_of(self, record: GameRecord) -> str:
        """A digest of the environment's code; of one that cannot be made none, as its games are not judged."""
        if record.env not in self._codes:
            try:
                live = innermost(self._replayer.start(record).env)
                parts = repr(sorted(fingerprint(record.env if self.env is None else self.env, live).items()))
            except ReplayError:
                parts = ""
            self._codes[record.env] = hashlib.blake2b(parts.encode(), digest_size=8).hexdigest()
        return self._codes[record.env]

    def run(self, record: GameRecord, on_turn: Callable[[int], None] | None = None) -> GameVerdict | str:
        """The verdict on a game that is not void; a sentence if it cannot be played again."""
        try:
            game, positions = self._positions(record)
        except ReplayError as error:
            return str(error)
        self._values.clear()
        if self._prover is not None:
            self._prover.clear_memory()
        for agent in (self._alpha_beta, self._expectiminimax):
            agent.reset(0)
        opponents = game.traits.chance is Chance.NONE and game.traits.seats == 2
        draw = game.traits.constant / 2 if opponents else None
        in_reach, verdicts, unjudged = True, list[MoveVerdict](), [0] * len(record.agents)
        for ply, seat, state, action in reversed(positions):
            if len(game.legal_actions(state)) < 2:
                continue
            values = self._values_of(game, state, seat) if in_reach else None
            if values is None or action not in values:
                in_reach = False
                unjudged[seat] += 1
                continue
            key = hashlib.blake2b(repr(game.key(state)).encode(), digest_size=8).hexdigest()
            mark = judgement.mark_of(max(values.values()), values[action], draw)
            verdicts.append(MoveVerdict.of(ply, action, mark, values, key))
        for move in record.moves[: len(record.moves) - len(positions)]:
            unjudged[move.seat] += 1
        return GameVerdict(
            record.game_id, record.seed, tuple(reversed(verdicts)), tuple(unjudged), draw is not None,
            self._prover is not None, self.question(record),
        )  # fmt: skip

    def _positions(self, record: GameRecord) -> tuple[Any, list[tuple[int, int, Any, int]]]:
        """The game, and the ply, the mover, the state and the action of each of the agents' moves."""
        driver = self._replayer.start(record)
        driver.turn()
        game = as_game(driver.env)
        self._searcher(game)
        positions: list[tuple[int, int, Any, int]] = []
        first = max(len(record.opening), len(record.actions) - _PLIES)
        for ply, (seat, played) in enumerate(self._replayer.steps(record, driver)):
            if ply >= first:
                action = codec_for(driver.env).to_index(played)
                state = game.snapshot(driver.env)
                positions.append((ply, seat, state, action))
        return game, positions

    def _searcher(self, game: Any) -> AlphaBetaAgent | ExpectiminimaxAgent:
        require_facts(game.traits, "judge")
        try:
            self._alpha_beta.check_game(game)
        except UnsupportedGameError:
            try:
                self._expectiminimax.check_game(game)
            except UnsupportedGameError as error:
                raise UnsupportedGameError(f"play in {game.traits.name} cannot be judged: {error}") from error
            if game.traits.chance is Chance.SAMPLED:
                raise UnsupportedGameError(
                    f"play in {game.traits.name} cannot be judged: its chance can be sampled but not listed, so "
                    "no value is exact"
                ) from None
            return self._expectiminimax
        return self._alpha_beta

    def _values_of(self, game: Any, state: Any, seat: int) -> Mapping[int, float] | None:
        """The exact value of every legal action for the mover, or None where one is not proven."""
        values = {}
        for action in game.legal_actions(state):
            value = self._value(game, game.result(state, action))
            if value is None:
                return None
            values[action] = value[seat]
        return values

    def _value(self, game: Any, state: Any) -> tuple[float, ...] | None:
        """The exact value of a state for every seat, or None where it is not proven."""
        earned: tuple[float, ...] = game.utility(state)
        if game.is_terminal(state):
            return earned
        if game.to_move(state) == CHANCE:
            return self._expected(game, state)
        key = game.key(state)
        if key not in self._values:
            if can_prove(game) and self.tables is None:
                values = self._proven(game, state)
            else:
                result = self._searcher(game).search_state(game, state)
                values = result.values_by_seat if result.proven else None
            # Keys may leave out what was earned before, so what is still to come is kept.
            self._values[key] = None if values is None else tuple(map(operator.sub, values, earned))
        to_come = self._values[key]
        return None if to_come is None else tuple(map(operator.add, earned, to_come))

    def _expected(self, game: Any, state: Any) -> tuple[float, ...] | None:
        total: tuple[float, ...] = (0.0,) * int(game.traits.seats)
        for outcome, chance in game.chance_outcomes(state):
            value = self._value(game, game.result(state, outcome))
            if value is None:
                return None
            total = tuple(sum_ + chance * part for sum_, part in zip(total, value, strict=True))
        return total

    def _proven(self, game: Any, state: Any) -> tuple[float, ...] | None:
        if self._prover is None or self._prover.game != game:
            self._prover = Prover(game, nodes=_COMPILED * self.nodes)
        traits = game.traits
        # Where only win, draw and loss are paid, the distance to the end, which scores tell, is of no interest.
        outcome_only = traits.utility_bounds == (-1.0, 1.0) and not traits.constant
        score = self._prover.score(state, lower=-1, upper=1) if outcome_only else self._prover.score(state)
        if outcome_only and score.lower >= 1:
            value = 1.0
        elif outcome_only and score.upper <= -1:
            value = -1.0
        elif score.lower == score.upper:
            value = self._prover.value(score.lower)[0]
        else:
            return None
        other = traits.constant - value
        return (value, other) if game.to_move(state) == 0 else (other, value)


def _rank(line: AgentJudgement) -> tuple[bool, float, float]:
    """The fewest mistakes first, of moves that matter."""
    total = line.total
    return total.judged == 0, -total.mattered_share if total.mattered else -1.0, total.mean_regret
