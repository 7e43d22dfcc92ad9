"""Games of hidden cards: small ones, in which equilibria can be computed, Texas hold'em and Hanabi."""

from __future__ import annotations

import itertools
import math
import random
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from poker_cfr import Boards, DealArrays, PublicTreeCFR, exploitability_on, fit_buckets, with_memory

from zermelo.agents import ISMCTSAgent, make_agent
from zermelo.agents.base.budget import Budget
from zermelo.agents.base.limits import Limits
from zermelo.agents.equilibrium.equilibrium import measured
from zermelo.agents.equilibrium.regrets import CFR, Variant
from zermelo.agents.equilibrium.sequence_form import sequence_form
from zermelo.agents.experts.poker.betting import BLINDS, Limit, betting_tree
from zermelo.agents.experts.poker.cards import CLASSES, Sizes, is_compiled
from zermelo.envs import as_game
from zermelo.envs.live.wrappers import innermost
from zermelo.envs.registration.make import make
from zermelo.evaluation.analysis.exploitability import agents_exploited
from zermelo.evaluation.stats.score_interval import student_interval


def ismcts(games: int = 400, simulations: int = 200, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Chips won from OpenSpiel's search at equal simulations on its Leduc poker, each deal from both seats."""
    import pyspiel

    game, deals = pyspiel.load_game("leduc_poker"), []
    dealer = random.Random(seed)
    ours = ISMCTSAgent(simulations=simulations)
    for number in range(games // 2):
        cards = dealer.sample(range(6), 6)
        won = 0.0
        for seat in (0, 1):
            ours.reset(2 * number + seat)
            evaluator = pyspiel.RandomRolloutEvaluator(1, 2 * number + seat)
            # 2 is OpenSpiel's usual constant; the final policy plays what was visited most, as ours does.
            theirs = pyspiel.ISMCTSBot(
                2 * number + seat, evaluator, 2.0, simulations, -1, pyspiel.ISMCTSFinalPolicyType.MAX_VISIT_COUNT
            )
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    left = {action for action, _ in state.chance_outcomes()}
                    state.apply_action(next(card for card in cards if card in left))
                elif state.current_player() == seat:
                    state.apply_action(int(ours.act(state)))
                else:
                    state.apply_action(theirs.step(state))
            won += state.returns()[seat]
        deals.append(won / 2)
    low, high = student_interval(deals)
    row = {"agent": "ismcts", "against": "ISMCTSBot", "chips a game": f"{statistics.mean(deals):+.3f}"}
    yield {**row, "95 % interval": f"{low:+.3f} to {high:+.3f}", "deals": len(deals)}


def exploitability(simulations: int = 200) -> Iterator[dict[str, Any]]:
    """What a player could gain on Leduc hold'em that knew exactly what the agent plays: 0 is an equilibrium."""
    table = agents_exploited("classic/leduc_holdem-v4", ["random", f"ismcts(simulations={simulations})", "cfr"])
    for found in table.agents:
        answers = zip(table.seat_names, found.best_responses, strict=True)
        row = {"agent": f"`{found.agent}`", "exploitability": f"{found.exploitability:.4g}"}
        yield row | {f"best answer as {seat}": f"{reward:.4g}" for seat, reward in answers}


# -- equilibria beside OpenSpiel's solvers

Solver = tuple[Callable[[], Any], Callable[[], float]]
"""A function that makes one iteration, and one that measures the exploitability."""


def _ours(game: Any, variant: str, backend: str = "auto") -> Solver:
    form = sequence_form(as_game(game, backend=backend))
    solver = CFR(form, Variant(variant))
    return lambda: solver.iterate(1), lambda: measured(form, solver.average()).exploitability


def _theirs(game: Any, make: Callable[[Any], Any], measure: Callable[[Any, Any], float]) -> Solver:
    solver = make(game)
    return solver.evaluate_and_update_policy, lambda: measure(game, solver.average_policy())


def _solvers() -> dict[str, Callable[[Any], Solver]]:
    import pyspiel
    from open_spiel.python.algorithms import cfr, discounted_cfr
    from open_spiel.python.algorithms.exploitability import exploitability as exploitability_of

    return {
        "zermelo, discounted": lambda game: _ours(game, "discounted"),
        "zermelo, CFR+": lambda game: _ours(game, "plus"),
        "same, by OpenSpiel's states": lambda game: _ours(game, "plus", "environment"),
        "OpenSpiel C++, CFR+": lambda game: _theirs(game, pyspiel.CFRPlusSolver, pyspiel.exploitability),
        "OpenSpiel Python, discounted": lambda game: _theirs(game, discounted_cfr.DCFRSolver, exploitability_of),
        "OpenSpiel Python, CFR+": lambda game: _theirs(game, cfr.CFRPlusSolver, exploitability_of),
    }


def _cells_of(game: Any, solver: Callable[[Any], Solver], gains: tuple[float, ...], most: float) -> list[str]:
    """A cell for each number: seconds and iterations."""
    started = time.process_time()
    step, measure = solver(game)
    spent = time.process_time() - started
    cells: list[str] = []
    due = 16
    for done in itertools.count(1):
        started = time.process_time()
        step()
        spent += time.process_time() - started
        if done < due and spent < most:
            continue
        due += due // 4
        gain = measure()
        while len(cells) < len(gains) and gain <= gains[len(cells)]:
            cells.append(f"{spent:.3g} s ({done:,})")
        if len(cells) == len(gains):
            break
        if spent >= most:
            return [*cells, f"{gain:.2g} after {spent:.0f} s ({done:,})"]
    return cells


def equilibrium(
    games: tuple[str, ...] = ("kuhn_poker", "leduc_poker"),
    gains: tuple[float, ...] = (0.01, 0.001),
    most: float = 120.0,
) -> Iterator[dict[str, Any]]:
    """Processor time, and iterations, until a player could gain at most so much on average.

    The exploitability is measured after 16 iterations, 20, 25 and so on, a quarter more each time, which is not
    timed; writing the game out, which ours does first, is. OpenSpiel's own function measures all policies of
    its solvers. Our rules of Leduc do not tell the cards of one rank apart, which leaves fewer information states;
    the row by OpenSpiel's states has as many as OpenSpiel. A solver may take the most seconds.
    """
    import pyspiel

    for name in games:
        for solver, theirs in _solvers().items():
            cells = [*_cells_of(pyspiel.load_game(name), theirs, gains, most), *("" for _ in gains)]
            shown = {f"to {gain:g}": cell for gain, cell in zip(gains, cells, strict=False)}
            yield {"game": name, "solver": solver, **shown}


# -- Texas hold'em for two

_ENVS = {"limit": "classic/texas_holdem-v4", "no_limit": "classic/texas_holdem_no_limit-v6"}


def poker(
    deals: int = 10_000,
    agent: str = "holdem",
    games: tuple[str, ...] = tuple(_ENVS),
    seed: int = 1,
) -> Iterator[dict[str, Any]]:
    """Mean reward of a deal with its 95 % interval; each deal is played twice, with the seats exchanged.

    Rewards are big blinds in limit hold'em, and chips, half as much, in no-limit. RLCard has rules for limit
    hold'em; in no-limit they raise by half the pot, and check rather than fold where nothing is to pay.
    """
    for game in games:
        name = _ENVS[game]
        for opponent, act in (("random", _random_play(seed)), ("RLCard's rules", _rlcard_rules)):
            env, player = make(name), make_agent(agent)
            player.reset(seed)
            pairs, spent, moves = [], 0.0, 0
            for number in range(deals // 2):
                rewards = []
                for seat in (0, 1):
                    env.reset(seed=seed + number)
                    while env.agents:
                        turn = env.possible_agents.index(env.agent_selection)
                        if env.terminations[env.agent_selection]:
                            rewards += [float(env.rewards[env.possible_agents[seat]])]
                            break
                        started = time.perf_counter()
                        action = player.act(env) if turn == seat else act(env)
                        spent += (time.perf_counter() - started) * (turn == seat)
                        moves += turn == seat
                        env.step(action)
                pairs.append(sum(rewards) / 2)
            mean, error = float(np.mean(pairs)), 1.96 * float(np.std(pairs, ddof=1)) / math.sqrt(len(pairs))
            row = {"game": game, "agent": f"`{agent}`", "opponent": opponent, "deals": deals}
            row |= {"reward of a deal": f"{mean:+.3f} ({mean - error:+.3f} to {mean + error:+.3f})"}
            yield row | {"ms a move": f"{1000 * spent / moves:.1f}"}


def poker_exploitability(
    raises: int = 1, buckets: int = 3, deals: int = 5_000, seconds: float = 40, seed: int = 1
) -> Iterator[dict[str, Any]]:
    """What a best response gains in an abstract limit hold'em, in which players remember all.

    Chance draws one of some deals, hands of each round are sorted into a few buckets, and there are fewer raises.
    """
    is_compiled()
    generator = np.random.default_rng(seed)
    boards = Boards(fit_buckets(Sizes((buckets,) * 3, (1, 1, 1)), 100, seed), 60, generator)
    drawn = boards.deals(deals)
    drawn.types[:, :, 0] = drawn.types[:, :, 0] * buckets // CLASSES
    whole, types = with_memory(drawn, [buckets] * 4)
    tree = betting_tree(Limit(raises=raises), forgets=False)
    cfr, started, done = PublicTreeCFR(tree, types), time.perf_counter(), 0
    while time.perf_counter() - started < seconds:
        chosen = generator.integers(len(whole.outcomes), size=20_000)
        cfr.iterate(DealArrays(whole.types[chosen], whole.outcomes[chosen]))
        done += len(chosen)
    gain, pot = exploitability_on(tree, types, cfr.average(), whole), sum(BLINDS) / Limit().unit
    row = {"raises a round": raises, "buckets": buckets, "entries": len(cfr.regrets), "iterations": done}
    yield row | {"big blinds a deal": f"{gain:.4f}", "of the blinds": f"{gain / pot:.2%}"}


def _random_play(seed: int) -> Callable[[Any], int]:
    source = random.Random(seed)
    return lambda env: source.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"]).tolist())


def _rlcard_rules(env: Any) -> int:
    """The action of RLCard's rules for limit hold'em."""
    from rlcard.models.limitholdem_rule_models import LimitholdemRuleAgentV1

    inside = innermost(env).env
    state = inside.get_state(inside.game.game_pointer)
    if inside.name == "limit-holdem":
        return ["call", "raise", "fold", "check"].index(LimitholdemRuleAgentV1.step(state))
    raw = inside.game.round.raised
    pays = max(raw) > raw[inside.game.game_pointer]
    names = ["call", "raise", "fold"] if pays else ["raise", "fold", "check"]
    legal = [action.value for action in state["raw_legal_actions"]]
    chosen = LimitholdemRuleAgentV1.step({**state, "raw_legal_actions": names})
    if chosen == "raise":
        return 2 if 2 in legal else 1
    return 0 if chosen == "fold" and pays else 1


# -- Hanabi


def _hanabi_game(players: int) -> Any:
    env = make(f"classic/hanabi-v5(players={players}, hand_size={5 if players < 4 else 4})")
    env.reset(seed=0)
    return as_game(env)


def _mean(points: Any) -> str:
    low, high = student_interval(list(map(float, points)))
    return f"{np.mean(points):.2f} ({low:.2f} to {high:.2f})"


def hanabi(games: int = 1_000, seed: int = 1) -> Iterator[dict[str, Any]]:
    """Mean points of teams that play by one convention, with 95 % intervals, and games a second of processor time.

    PettingZoo's environment takes all points away with the last life; "points kept" counts them.
    """
    for convention in ("smart", "hats"):
        for players in (2, 3, 4, 5):
            game, agent = _hanabi_game(players), make_agent(f"hanabi(convention={convention})")
            made: Any = agent
            policy, started = made.blueprint(game, Budget(Limits())), time.process_time()
            points, lives = policy.play_on(game.initial_state(), samples=games, seed=seed)
            rate = games / (time.process_time() - started)
            scored = np.where(lives > 0, points, 0)[:, 0]
            row = {"convention": convention, "players": players, "points": _mean(scored)}
            row |= {"points kept": _mean(points[:, 0]), "perfect": f"{np.mean(scored == 25):.0%}"}
            yield row | {"games a second": f"{rate:,.0f}"}


def hanabi_search(
    games: int = 200, players: int = 2, search: str = "sparta(samples=100)", searching: int = 1, seed: int = 1
) -> Iterator[dict[str, Any]]:
    """Points gained by players who search while the others play the blueprint, on the same decks."""
    game, agent, usual = _hanabi_game(players), make_agent(search), make_agent("hanabi")
    gains, totals, spent = [], [], 0.0
    for number in range(games):
        points = []
        for seats in (range(searching), ()):
            started = time.process_time()
            points.append(_hanabi_points(game, agent, usual, seats, seed + number))
            spent += (time.process_time() - started) * bool(seats)
        gains.append(points[0] - points[1])
        totals.append(points)
    row = {
        "players": players,
        "searching": searching,
        "search": f"`{search}`",
        "blueprint": _mean([p for _, p in totals]),
    }
    row |= {"with search": _mean([p for p, _ in totals]), "gain": _mean(gains)}
    yield row | {"games": games, "seconds a game": f"{spent / games:.1f}"}


def _hanabi_points(game: Any, agent: Any, usual: Any, searching: Any, seed: int) -> float:
    """The points of one game, with cards that depend on the seed and on how many were dealt before."""
    chance, state = random.Random(seed), game.initial_state()
    agent.reset(seed)
    while not game.is_terminal(state):
        if outcomes := game.chance_outcomes(state):
            state = game.result(state, chance.choices(*zip(*outcomes, strict=True))[0])
        else:
            mover = agent if game.to_move(state) in searching else usual
            state = game.result(state, mover.search_state(game, state).action)
    return float(game.utility(state)[0])
