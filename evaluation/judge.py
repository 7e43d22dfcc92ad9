"""Every move of every agent against perfect play, where perfect play can be proven.

    table = judge(read_games("results/first"))
    print(table)

A position is judged if exact search proves the value of every legal action, each within a budget of nodes; games
with compiled rules have a hundred times the budget, because they are searched a hundred times as fast. A game is
judged from its end backwards, because positions near the end have the fewest moves ahead of them; where a position
cannot be proven, neither it nor an earlier one of that game is judged, and all of them are counted as such.

- Forced moves are neither judged nor counted: there was nothing to choose.
- A move is optimal if no other has a greater value. Its regret is the greatest value less its own, in the game's
  own rewards.
- A blunder changes the outcome: a won position is thrown away if the best move wins and the one played does not, a
  drawn one if the best move draws and the one played loses. A position is won if its value is above that of a
  draw, half the sum of the rewards. With chance values are expectations, and there are no blunders.
- The phase of a move is the third of its game that it lies in, by plies: opening, middle, end.
"""

from __future__ import annotations

import enum
import math
import operator
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from zermelo.agents import AlphaBetaAgent, ExpectiminimaxAgent
from zermelo.agents.deepening import Ties
from zermelo.agents.kernels.proof import Prover, can_prove
from zermelo.envs import CHANCE, Chance, InvalidSettingError, UnsupportedGameError, as_game
from zermelo.envs.actions import codec_for
from zermelo.evaluation.entrants import EnvSource
from zermelo.evaluation.record import GameRecord
from zermelo.evaluation.replay import Replayer, ReplayError

__all__ = ["AgentJudgement", "Judge", "JudgeTable", "Judgements", "Phase", "judge"]

NODES: Final = 20_000
"""The default budget for the position after each action."""
_COMPILED: Final = 100
"""How many times the budget compiled rules have."""
_POSITIONS_KEPT: Final = 200_000
"""Of which the values are remembered; then the memory starts again."""
_PLIES: Final = 1_000
"""Of a longer game the last so many moves are looked at."""
_EQUAL: Final = 1e-9
"""Values that differ by less are equal: sums of probabilities are rounded."""


class Phase(enum.StrEnum):
    """Which third of the game."""

    OPENING = "opening"
    MIDDLE = "middle"
    END = "end"


@dataclass
class Judgements:
    """Counts over judged moves.

    Attributes:
        judged: Moves.
        optimal: Those than which none was better.
        regret: Sum of what they gave away, in rewards.
        wins_thrown_away: Won positions in which a move was played that does not win.
        draws_thrown_away: Drawn positions in which a move was played that loses.
    """

    judged: int = 0
    optimal: int = 0
    regret: float = 0.0
    wins_thrown_away: int = 0
    draws_thrown_away: int = 0

    def add(self, best: float, played: float, draw: float | None) -> None:
        """Counts a move.

        Args:
            best: The value of the best move for the mover.
            played: The value of the move played.
            draw: The value of a draw, or None where blunders are not counted.
        """
        self.judged += 1
        if best - played <= _EQUAL:
            self.optimal += 1
            return
        self.regret += best - played
        if draw is not None:
            self.wins_thrown_away += best > draw + _EQUAL >= played
            self.draws_thrown_away += abs(best - draw) <= _EQUAL and played < draw - _EQUAL

    def __iadd__(self, other: Judgements) -> Judgements:
        self.judged += other.judged
        self.optimal += other.optimal
        self.regret += other.regret
        self.wins_thrown_away += other.wins_thrown_away
        self.draws_thrown_away += other.draws_thrown_away
        return self


@dataclass
class AgentJudgement:
    """One agent's moves.

    Attributes:
        agent: Its name.
        games: In which at least one of its moves was looked at.
        unjudged: Moves in positions that could not be proven, forced ones left out.
        phases: The judged moves by phase.
    """

    agent: str
    games: int = 0
    unjudged: int = 0
    phases: Mapping[Phase, Judgements] = field(default_factory=lambda: {phase: Judgements() for phase in Phase})

    @property
    def total(self) -> Judgements:
        """The judged moves of all phases."""
        total = Judgements()
        for part in self.phases.values():
            total += part
        return total

    @property
    def optimal_share(self) -> float:
        """Optimal moves among the judged; nan if there are none."""
        total = self.total
        return total.optimal / total.judged if total.judged else math.nan

    @property
    def mean_regret(self) -> float:
        """What a judged move gave away on average, in rewards; nan if there are none."""
        total = self.total
        return total.regret / total.judged if total.judged else math.nan


@dataclass(frozen=True, kw_only=True)
class JudgeTable:
    """What the judge found; ``print`` shows it.

    Attributes:
        env: The environment's name.
        agents: The fewest mistakes first.
        games: Games looked at.
        nodes: The budget for the position after each action.
        compiled: Whether it was spent by compiled search.
        has_blunders: Whether outcomes are certain, so that blunders are counted.
        notes: Sentences that a reader of the table should know.
    """

    env: str
    agents: tuple[AgentJudgement, ...]
    games: int
    nodes: int
    compiled: bool = False
    has_blunders: bool = True
    notes: tuple[str, ...] = ()

    def agent(self, name: str) -> AgentJudgement:
        """The line of an agent, by name."""
        return next(line for line in self.agents if line.agent == name)

    @property
    def about(self) -> str:
        """What the numbers mean, for a reader of the table."""
        return (
            f"Moves with a choice, of {self.games:,} games, where the value of every action could be proven "
            f"within {self.nodes:,} nodes{' (compiled)' if self.compiled else ''}. Regret is what a move gave "
            "away, in rewards. A win thrown away is a move that no longer wins a won position, a draw thrown away "
            "one that loses a drawn position. Phases are thirds of a game."
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON; what is not known is None."""

        def known(value: float) -> float | None:
            return None if math.isnan(value) else value

        return {
            "env": self.env,
            "games": self.games,
            "nodes": self.nodes,
            "compiled": self.compiled,
            "has_blunders": self.has_blunders,
            "about": self.about,
            "notes": list(self.notes),
            "agents": [
                {
                    "agent": line.agent,
                    "games": line.games,
                    **vars(line.total),
                    "unjudged": line.unjudged,
                    "optimal_share": known(line.optimal_share),
                    "mean_regret": known(line.mean_regret),
                    "phases": [{"phase": str(phase), **vars(part)} for phase, part in line.phases.items()],
                }
                for line in self.agents
            ],
        }

    def __str__(self) -> str:
        from zermelo.evaluation.judge_text import as_text

        return as_text(self)


def judge(
    records: Iterable[GameRecord],
    env: EnvSource | None = None,
    *,
    nodes: int = NODES,
    games: int | None = None,
) -> JudgeTable:
    """Every move of every agent against perfect play.

    Args:
        records: The games, read once and not kept. Void games are left out.
        env: What makes their environment; by default the name in the records.
        nodes: The budget of the exact search for the position after each action.
        games: Look at so many games, the first, and no more; None looks at all.

    Raises:
        UnsupportedGameError: There is no perfect play to compare with: hidden information, chance that cannot be
            enumerated, more than two seats, or two that are not opposed.
        InvalidSettingError: ``nodes`` or ``games`` is not at least 1.
        ReplayError: Not one of the games can be played again.
    """
    found = Judge(env, nodes=nodes)
    if games is not None and (isinstance(games, bool) or not isinstance(games, int) or games < 1):
        raise InvalidSettingError(f"games must be a whole number of at least 1, not {games!r}")
    for record in records:
        if games is not None and found.games >= games:
            break
        found.add(record)
    return found.table()


class Judge:
    """Judges games one at a time; ``table`` is what it has found so far.

    Args:
        env: What makes the environment; by default the name in the records.
        nodes: The budget of the exact search for the position after each action.
    """

    def __init__(self, env: EnvSource | None = None, *, nodes: int = NODES) -> None:
        self.games = 0
        self._nodes = nodes
        self._replayer = Replayer(env)
        self._alpha_beta = AlphaBetaAgent(nodes=nodes, ties=Ties.FIRST, sooner=False)
        self._expectiminimax = ExpectiminimaxAgent(nodes=nodes, ties=Ties.FIRST, sooner=False)
        self._agents: dict[str, AgentJudgement] = {}
        self._values: dict[Hashable, tuple[float, ...] | None] = {}
        self._env = ""
        self._has_blunders = True
        self._prover: Prover | None = None
        self._lost: list[str] = []

    def add(self, record: GameRecord) -> None:
        """Judges the moves of a game.

        Raises:
            UnsupportedGameError: There is no perfect play in its game to compare with.
        """
        if record.void:
            return
        self._env = self._env or record.env
        try:
            game, positions = self._positions(record)
        except ReplayError as error:
            self._lost.append(str(error))
            return
        self.games += 1
        lines = [self._agents.setdefault(name, AgentJudgement(name)) for name in record.agents]
        for line in {move.seat: lines[move.seat] for move in record.moves}.values():
            line.games += 1
        plies = len(record.opening) + len(record.moves)
        opponents = game.traits.chance is Chance.NONE and game.traits.seats == 2
        draw = game.traits.constant / 2 if opponents else None
        self._has_blunders = self._has_blunders and draw is not None
        in_reach = True
        for ply, seat, state, action in reversed(positions):
            if len(game.legal_actions(state)) < 2:
                continue
            values = self._values_of(game, state, seat) if in_reach else None
            if values is None or action not in values:
                in_reach = False
                lines[seat].unjudged += 1
                continue
            phase = tuple(Phase)[min(2, 3 * ply // plies)]
            lines[seat].phases[phase].add(max(values.values()), values[action], draw)
        for move in record.moves[: len(record.moves) - len(positions)]:
            lines[move.seat].unjudged += 1

    def _positions(self, record: GameRecord) -> tuple[Any, list[tuple[int, int, Any, int]]]:
        """The game, and the ply, the mover, the state and the action of each of the agents' moves."""
        referee = self._replayer.start(record)
        referee.turn()
        game = as_game(referee.env)
        self._searcher(game)
        positions: list[tuple[int, int, Any, int]] = []
        first = max(len(record.opening), len(record.actions) - _PLIES)
        for ply, (seat, played) in enumerate(self._replayer.steps(record, referee)):
            if ply >= first:
                agent = getattr(referee.env, "agent_selection", None)
                action = codec_for(referee.env, agent).to_index(played)
                positions.append((ply, seat, game.snapshot(referee.env), action))
        return game, positions

    def _searcher(self, game: Any) -> AlphaBetaAgent | ExpectiminimaxAgent:
        """Who finds exact values in this game.

        Raises:
            UnsupportedGameError: Nobody does.
        """
        try:
            self._alpha_beta.check_game(game.traits)
        except UnsupportedGameError:
            try:
                self._expectiminimax.check_game(game.traits)
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
        """The exact value of a state for every seat, or None where it is not proven.

        Actions are valued one by one, because a search that has proven the best of them need not have proven the
        others.
        """
        earned: tuple[float, ...] = game.utility(state)
        if game.is_terminal(state):
            return earned
        if game.to_move(state) == CHANCE:
            return self._expected(game, state)
        key = game.key(state)
        if key not in self._values:
            if len(self._values) >= _POSITIONS_KEPT:
                self._values.clear()
            found = self._proven(game, state) if can_prove(game) else self._searched(game, state)
            # Keys may leave out what was earned before, so what is still to come is kept.
            self._values[key] = None if found is None else tuple(map(operator.sub, found, earned))
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

    def _searched(self, game: Any, state: Any) -> tuple[float, ...] | None:
        result = self._searcher(game).search_state(game, state)
        return result.values_by_seat if result.proven else None

    def _proven(self, game: Any, state: Any) -> tuple[float, ...] | None:
        """The same by compiled search."""
        if self._prover is None or self._prover.game != game:
            self._prover = Prover(game, nodes=_COMPILED * self._nodes)
        traits = game.traits
        # Where only win, draw and loss are paid, the distance to the end, which scores tell, is of no interest.
        outcome_only = traits.utility_bounds == (-1.0, 1.0) and not traits.constant
        score = self._prover.score(state, least=-1, greatest=1) if outcome_only else self._prover.score(state)
        if outcome_only and score.least >= 1:
            value = 1.0
        elif outcome_only and score.greatest <= -1:
            value = -1.0
        elif score.least == score.greatest:
            value = self._prover.value(score.least)[0]
        else:
            return None
        other = traits.constant - value
        return (value, other) if game.to_move(state) == 0 else (other, value)

    def table(self) -> JudgeTable:
        """What was found.

        Raises:
            ReplayError: Not one of the games could be played again.
        """
        if self._lost and not self.games:
            raise ReplayError(self._lost[0])
        notes = []
        if self._lost:
            count = "1 game is" if len(self._lost) == 1 else f"{len(self._lost)} games are"
            notes.append(f"{count} not judged: {self._lost[0]}")
        if self.games and not any(line.total.judged for line in self._agents.values()):
            notes.append(
                f"no position could be proven within {self._nodes:,} nodes: give the judge more, or a smaller game"
            )
        ranked = sorted(self._agents.values(), key=lambda line: (line.total.judged == 0, -line.optimal_share))
        return JudgeTable(
            env=self._env,
            agents=tuple(ranked),
            games=self.games,
            nodes=self._nodes * (_COMPILED if self._prover is not None else 1),
            compiled=self._prover is not None,
            has_blunders=self._has_blunders,
            notes=tuple(notes),
        )
