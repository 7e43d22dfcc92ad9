"""Opponents of many games at once, and matches of two: the agents' own compiled searches in the games' kernel."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits
from zermelo.agents.base.machine import default_threads
from zermelo.agents.base.scores import expected_reward
from zermelo.agents.base.settings import setting_fields
from zermelo.agents.baselines import GreedyAgent, NoisyAgent, RandomAgent
from zermelo.agents.kernels.layout import NO_LIMIT, KernelRecord
from zermelo.agents.kernels.program import can_evaluate, can_search_through_chance
from zermelo.agents.kernels.threads import number_of_threads
from zermelo.agents.level import LevelAgent
from zermelo.agents.monte_carlo.agent import MCTSAgent
from zermelo.agents.monte_carlo.compiled.record import MonteCarloRecord
from zermelo.agents.monte_carlo.compiled.search import CompiledMonteCarlo
from zermelo.agents.monte_carlo.interface import RootSetup
from zermelo.agents.specs import make_agent
from zermelo.agents.training.vectors.games import (
    FEW,
    PARTS,
    GameArrays,
    OpponentVariant,
    Shard,
    compiled_game,
    run_parts,
    split_games,
)
from zermelo.agents.tree_search.alpha_beta.agents import AlphaBetaAgent, MinimaxAgent
from zermelo.agents.tree_search.alpha_beta.compiled import CompiledAlphaBeta
from zermelo.agents.tree_search.chance.agents import ExpectiminimaxAgent
from zermelo.agents.tree_search.chance.compiled import CompiledGeneralSearch
from zermelo.agents.tree_search.interface import SearchSetup
from zermelo.agents.tree_search.settings import AlphaBetaConfig
from zermelo.envs.capabilities import SupportsEvaluation, offers
from zermelo.envs.errors import InvalidSettingError, UnsupportedGameError
from zermelo.envs.game import CHANCE
from zermelo.envs.rules.rules_game import RulesGame

MOST_MOVES_AHEAD: Final = 50_000  # the most moves of a playout
MAX_MOVES: Final = 1_000  # longer games of a match are drawn
LONG_WITH_PAST: Final = 2_000  # moves after which a game with a past, which takes memory, is truncated
_EVERYTHING: Final = Limits()
_TABLE_MB: Final = 4.0
_SHALLOW: Final = 4  # up to this depth a table is not worth its memory
_PLIES: Final = 4  # states on a path, those of chance included, for each move of the depth


class Opponent(NamedTuple):
    """An opponent's search block, the owner of its other memory, the kernel's variants and how it chooses."""

    search: KernelRecord
    owner: Any = None
    variants: tuple[Any, ...] = ()
    simulations: int = 0
    noise: int = 0


def seated(
    games: GameArrays, game: RulesGame, agent: Any, count: int, threads: int | None, kernel: Callable[..., int]
) -> tuple[list[Shard], list[Opponent]]:
    """A kernel's shard, and the opponent that moves in it, for each of the threads that share so many games."""
    many = min(default_threads(), max(count // FEW, 1)) if threads is None else number_of_threads(threads)
    opponents = [opponent_of(agent, game) for _ in range(many)]
    moves = min(int(games.numbers["longest"]), LONG_WITH_PAST) + MOST_MOVES_AHEAD
    shards = games.shards(kernel, [each.search for each in opponents], moves, opponents[0].variants)
    for shard, each in zip(shards, opponents, strict=True):
        shard.record.simulations, shard.record.noise = each.simulations, each.noise
        shard.record.attach("scratch", np.zeros(2 * shard.record.width, np.int64))
    return shards, opponents


def shares_of(spec: Any, game: RulesGame, first: int, last: int) -> list[tuple[Any, int, int]]:
    """An opponent and its games; those of a level are shared between the rungs that it mixes."""
    agent = make_agent(spec) if isinstance(spec, str) else spec
    if not isinstance(agent, LevelAgent):
        return [(agent, first, last)]
    mix = agent.mix_for(game)
    middle = first + round((last - first) * (1 - mix.share))
    parts = [(mix.lower, first, middle), (mix.upper, middle, last)]
    return [part for part in parts if part[1] < part[2]]


def opponent_of(spec: Any, game: RulesGame) -> Opponent:
    """An opponent, of a spec or an agent, that plays in compiled code with memory of its own."""
    agent: Any = make_agent(spec)
    if isinstance(agent, NoisyAgent):
        return opponent_of(agent.agent, game)._replace(noise=round(PARTS * agent.epsilon))
    if isinstance(agent, RandomAgent):
        return Opponent(_looking(game))
    if isinstance(agent, GreedyAgent) and agent.evaluator is None:
        agent.check_game(game)
        return Opponent(_looking(game), variants=(OpponentVariant(looks=True),))
    if isinstance(agent, MinimaxAgent) and _is_plain(agent, "depth", "evaluator"):
        agent = AlphaBetaAgent(depth=agent.depth, evaluator=agent.evaluator, name=agent.name)
    if isinstance(agent, AlphaBetaAgent) and _is_plain(agent, "depth", "quiescence", "memory_mb", "evaluator"):
        agent.check_game(game)
        if depth := agent.limits.depth:
            memory_mb = min(agent.memory_mb, _TABLE_MB) if depth > _SHALLOW else 0
            config = dataclasses.replace(agent.config, memory_mb=memory_mb)
            return _searching(agent, game, CompiledAlphaBeta, config)
    averaging = "pruning", "beam_width", "chance_at_limit", "ordering"
    if isinstance(agent, ExpectiminimaxAgent) and _is_plain(agent, "depth", "evaluator", "memory_mb", *averaging):
        agent.check_game(game)
        if agent.limits.depth and can_search_through_chance(game):
            config = dataclasses.replace(agent.config, memory_mb=0.0)
            return _searching(agent, game, CompiledGeneralSearch, config)
    others = "simulations", "exploration", "rave", "solver", "selection"
    if isinstance(agent, MCTSAgent) and _is_plain(agent, *others, "reuse", "playouts", "playout_moves"):
        agent.check_game(game)
        count = agent.limits.simulations
        if count is not None and game.traits.terminal_rewards_only:
            return _monte_carlo(agent, game, count)
    raise InvalidSettingError(
        "opponents of many games at once are 'random', 'greedy', 'alphabeta(depth=...)', 'minimax(depth=...)', "
        "'expectiminimax(depth=...)' where there is chance, 'mcts(simulations=...)', 'noisy(agent=...)' of one "
        "of these, or 'level(...)', as far as they compile, not "
        f"{agent.name!r}: OpponentEnv takes any agent"
    )


def _is_plain(agent: Any, *allowed: str) -> bool:
    default = type(agent)()
    names = {field.name for field in setting_fields(agent)} - {*allowed, "name", "seed"}
    return all(getattr(agent, name) == getattr(default, name) for name in names)


def _looking(game: RulesGame) -> MonteCarloRecord:
    search, traits, width = MonteCarloRecord(), game.traits, max(game.max_legal_actions, 1)
    search.width, search.seats, search.num_values = width, traits.seats, traits.seats
    search.has_evaluation = offers(game, SupportsEvaluation)
    search.lower_evaluation, search.upper_evaluation = game.rules_bounds
    search.expected = expected_reward(traits)
    search.attach("looks", np.zeros(2 * width, np.int64))
    return search


def _with_arena(search: KernelRecord, words: int) -> None:
    search.attach("arena", np.zeros(words, np.int64))
    search.arena_end = search.arena + 8 * words
    search.stop, search.node_limit = 0, NO_LIMIT


def _searching(
    agent: Any, game: RulesGame, kind: type[CompiledAlphaBeta | CompiledGeneralSearch], config: AlphaBetaConfig
) -> Opponent:
    depth, state = agent.limits.depth, game.initial_state()
    root = SearchSetup(game, state, agent.evaluator_for(game, state))
    if not can_evaluate(root.evaluator) or not kind.can_search(root):
        raise InvalidSettingError(
            f"{game.traits.name} has no evaluation that compiles: say {agent.kind}(depth={depth}, "
            "evaluator='rewards'), or play against mcts(simulations=...)"
        )
    made = kind(root, Budget(_EVERYTHING), config)
    made.ensure_memory(depth, 0)
    made.set_iteration_depth(depth)
    search = made.searches[0]
    search.stop, search.node_limit, search.depth, search.age = 0, NO_LIMIT, depth, depth & 1
    if kind is CompiledGeneralSearch:
        _with_arena(search, search.width + search.node_bytes // 8 * (_PLIES * depth + _PLIES))
    return Opponent(search, made, (OpponentVariant(searches=True), *made.variants(root, config)))


def _monte_carlo(agent: MCTSAgent, game: RulesGame, simulations: int) -> Opponent:
    state = game.initial_state()
    while game.to_move(state) == CHANCE:
        state = game.result(state, game.chance_outcomes(state)[0][0])
    config = agent.config
    made = CompiledMonteCarlo(
        game, None, Budget(_EVERYTHING), limits=agent.limits, start=RootSetup(game, state, config, 0)
    )
    search = made.searches[0]
    words = (simulations + 2) * (search.node_words + search.edge_words * max(game.max_legal_actions, 1))
    _with_arena(search, min(words, int(config.memory_mb * 2**17)) + 64)
    variants = OpponentVariant(simulates=True), *made.variants(game, None, config.selection)
    return Opponent(search, made, variants, simulations)


class MatchResult(NamedTuple):
    """The first agent's games, those won, drawn and lost; and the moves of all."""

    wins: int
    draws: int
    losses: int
    moves: int


class Match:
    """Games of two agents, or their specs, that ``make_vec`` takes as opponents, as many from either seat.

    ``pairs`` counts pairs of games with the seats exchanged, which begin with ``opening`` random moves. Results do
    not depend on ``threads``.

    Raises:
        UnsupportedGameError: It has no rules that compile, or not two seats, or an agent cannot play it.
        InvalidSettingError: An agent does not compile.
    """

    def __init__(
        self, env: Any, first: Any, second: Any, pairs: int, *, opening: int = 0, threads: int | None = 1
    ) -> None:
        from zermelo.agents.training.vectors.kernel import answer, play

        self._game = game = compiled_game(env)
        if game.traits.seats != 2:
            raise UnsupportedGameError(f"{game.traits.name} has {game.traits.seats} seats, and a match needs two")
        self._pairs = pairs
        self._games = GameArrays(
            game, pairs, MAX_MOVES, seat_rule=-1, same_step=0, illegal_reward=0.0, rounds=2, opening=opening
        )
        self._first, self._second = (
            seated(self._games, game, agent, pairs, threads, kernel)
            for agent, kernel in ((first, answer), (second, play))
        )

    def play(self, seed: int) -> MatchResult:
        arrays, start = self._games.arrays, self._game.initial_state()
        first, second = (split_games(shards, 0, self._pairs) for shards, _ in (self._first, self._second))
        numbers = np.random.SeedSequence(seed).generate_state(self._pairs, np.uint64)
        arrays["random"][:] = numbers >> np.uint64(2)
        arrays["episodes"][:] = 0
        run_parts(second, start, 1)
        counts, moves = np.zeros(3, np.int64), 0
        while run_parts(first, start, 0) or (arrays["episodes"] < 2).any():
            run_parts(second, start, 0)
            ended = (arrays["terminated"] | arrays["truncated"]).astype(bool)
            seats, rewards = arrays["seats"][ended], arrays["rewards"][ended]
            own, other = (rewards[np.arange(len(seats)), seat] for seat in (seats, 1 - seats))
            counts += np.bincount(1 - np.sign(own - other).astype(np.int64), minlength=3)
            moves += int(arrays["moves"][ended].sum())
        wins, draws, losses = map(int, counts)
        return MatchResult(wins, draws, losses, moves)
