"""Prints how `auto` fares in the environments of strangers.txt, each in a process of its own.

Usage: python scripts/strangers.py [--install PYTHON | --measure [--moves N] [--stop-after SECONDS] |
    --points [--games N] [--agents NAMES]] [NAME ...]

``--install`` installs the requirements, without their dependencies, for a Python and ends.

``--measure`` prints what searches of 0.2 s a move achieve, in random order: each environment in a process whose
cache is empty, and again in one that finds it filled (``ZERMELO_CACHE_DIR``). A row says how long it took to find
out what the environment is, both times; how long a copy and a step take; and for each agent how many of its moves
looked further than one ply, the simulations or the depth, how late the slowest move was, and how long searches
waited off the clock. Further means: depth 2 or more, as many simulations as there are actions, a value that is
proven, a search that came to its end, or the answer of a finished table or of a game's expert. It also says how
often random play took place over 20 resets, of the environment and of others made alike, and which traits were
told, seen in play or assumed. A summary of all rows follows; it names what agents raised and warned of.

``--points`` plays games of 0.2 s a move against `greedy`, from both seats, in the environments of two seats, and
prints each agent's share of points with its 95 % interval (Wilson); then the median and the least of all.
"""

import argparse
import contextlib
import functools
import importlib
import io
import json
import os
import pickle
import random
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

SECONDS = 0.3
TIMEOUT = 150
POINTS_TIMEOUT = 1500
MEASURED = 0.2
AGENTS = ("alphabeta", "mcts", "auto")
RESETS = 20
TRAITS = ("chance", "information", "reward_sum", "terminal_rewards_only")
SETTLED = ("value_iteration", "backward_induction", "hanabi", "sparta", "holdem")
"""Methods that look at the whole game, or know it."""
LISTED = {
    line.partition(" | ")[0]: line.split(" | ", 2)[1:]
    for line in Path(__file__).with_suffix(".txt").read_text().splitlines()
    if line and not line.startswith("#")
}
"""Names of the environments with their requirement and source, ``module : expression``."""


def made(name):
    """A new environment, reset; PettingZoo 1.27's agent_selector is a class again."""
    import gymnasium
    import pettingzoo.utils

    pettingzoo.utils.agent_selector = pettingzoo.utils.AgentSelector
    module, expression = LISTED[name][1].split(" : ", 1)
    random.seed(0)
    env = eval(expression, {**vars(importlib.import_module(module.strip())), "gym": gymnasium})
    reset(env, 0)
    return env


def reset(env, seed):
    try:
        env.reset(seed=seed)
    except TypeError:  # written for Gym before 0.26
        env.reset()


def stepped(env, action):
    """Steps: returns all that shows, and whether the episode is over."""
    from zermelo.envs.live.wrappers import of_step

    if not any(hasattr(layer, "agent_selection") for layer in (env, getattr(env, "unwrapped", None))):
        *answer, _ = of_step(env.step(action))  # one player, or all at the same time
        return repr(answer), answer[2] or answer[3]
    dead = env.terminations.get(env.agent_selection) or env.truncations.get(env.agent_selection)
    env.step(None if dead else action)
    ended = all(env.terminations.get(agent) or env.truncations.get(agent) for agent in env.agents)
    seen = [env.agent_selection, env.rewards, [env.observe(agent) for agent in env.agents]] if env.agents else []
    return repr(seen), ended


def harmed(name, env):
    """Whether the searched environment goes on unlike one that was never searched; None if two such differ."""
    import numpy as np

    from zermelo.agents import make_agent

    def played(env):
        agent, seen = make_agent("random(seed=3)"), []
        random.seed(1)
        np.random.seed(1)  # noqa: NPY002 - what environments draw from
        for _ in range(20):
            shown, ended = stepped(env, agent.act(env))
            seen.append(shown)
            if ended:
                break
        return seen

    try:
        first, second = played(made(name)), played(made(name))
        return None if first != second else played(env) != first
    except Exception:
        return None


def global_state():
    """The states of the global generators."""
    import numpy as np

    state = random.getstate(), pickle.dumps(np.random.get_state())  # noqa: NPY002
    torch = sys.modules.get("torch")
    return state if torch is None else (*state, bytes(torch.get_rng_state().tolist()))


def examine(name):
    """The outcome of a move by ``auto``, what it chose or said, and whether that harmed anything."""
    from zermelo.agents import make_agent
    from zermelo.envs import ZermeloError

    try:
        env = made(name)
    except Exception as error:
        return {"outcome": "broken", "message": f"{type(error).__name__}: {error}"}
    agent, before = make_agent(f"auto(seconds={SECONDS})"), global_state()
    try:
        with contextlib.redirect_stderr(open(os.devnull, "w")):
            row = {"outcome": "plays", "message": f"{agent.act(env)!r}"[:60]}
    except ZermeloError as error:
        row = {"outcome": "refused", "message": str(error)}
    except Exception as error:
        trace = traceback.format_exc()[-1500:]
        row = {"outcome": "traceback", "message": f"{type(error).__name__}: {error}", "trace": trace}
    is_changed = global_state() != before
    return row | {"harmed": is_changed or (harmed(name, env) if row["outcome"] != "refused" else None)}


def step_seconds(env):
    """Seconds that a copy and a step take at the start, the median of up to 15 actions; None if none works."""
    from zermelo.envs import ZermeloError
    from zermelo.envs.position import position

    taken, root = [], position(env)
    with contextlib.suppress(ZermeloError, NotImplementedError):
        actions = root.game.legal_actions(root.state)
        for action in (actions * 15)[:15] if len(actions) < 15 else random.Random(0).sample(list(actions), 15):
            begun = time.perf_counter()
            with contextlib.suppress(ZermeloError):  # it may fail in some of its own lines of play
                root.game.result(root.state, action)
                taken.append(time.perf_counter() - begun)
            if sum(taken) > 1:
                break
    return statistics.median(taken) if taken else None


def moves_of(name, kind, moves):
    """What an agent's first moves in all seats were like, or how it refused or failed."""
    from zermelo.agents import make_agent
    from zermelo.envs import ZermeloError
    from zermelo.envs.live.wrappers import is_dead

    row = {"moves": []}
    try:
        agent, env, begun = make_agent(f"{kind}(seconds={MEASURED})"), made(name), time.perf_counter()
        agent.prepare(env)
        row["prepared"] = time.perf_counter() - begun
        ended = False
        while len(row["moves"]) < moves and not ended:
            action = None
            if not is_dead(env):
                begun = time.perf_counter()
                found = agent.search(env)
                taken, action = time.perf_counter() - begun, found.env_action
                is_finished = found.stopped_by == "completed" and found.method != "one ply"
                is_settled = found.proven or is_finished or found.method.partition(":")[0] in SETTLED
                is_deep = is_settled or found.depth >= 2 or found.simulations >= max(found.actions_legal, 1)
                shown = {"deep": is_deep or found.actions_legal == 1, "late": taken - found.compiling - MEASURED}
                shown |= {"waited": found.compiling, "depth": found.depth, "simulations": found.simulations}
                shown |= {"legal": found.actions_legal, "method": found.method, "stop": found.stopped_by}
                shown |= {"nodes": found.nodes, "proven": found.proven}
                row["moves"].append(shown)
            _, ended = stepped(env, action)
    except ZermeloError as error:
        row["refused"] = f"{type(error).__name__}: {error}"[:300]
    except Exception as error:
        row |= {"raised": f"{type(error).__name__}: {error}"[:300], "trace": traceback.format_exc()[-1500:]}
    return row


@contextlib.contextmanager
def counted_plays():
    """A list with an element for each random play in the block."""
    from zermelo.envs.adapters import adapting

    plays, remember = [], adapting.remember
    adapting.remember = lambda *given: (plays.append(1), remember(*given))[1]
    try:
        yield plays
    finally:
        adapting.remember = remember


def sources(traits):
    """By field of ``traits``: its value, and whether that is told, seen or assumed."""
    named = {field: traits.source(field).name.lower() for field in TRAITS}
    told = {field: source if source in ("seen", "assumed") else "told" for field, source in named.items()}
    return {field: (str(getattr(traits, field)), source) for field, source in told.items()}


def measure(name, moves):
    """Seconds of preparation and of a step, what is known of the environment, and the moves of each agent."""
    import zermelo.agents  # noqa: F401 - imports are no preparation
    from zermelo.envs import as_game

    row, env = {"outcome": "measured"}, made(name)
    with contextlib.ExitStack() as block:
        block.enter_context(contextlib.redirect_stderr(io.StringIO()))
        warned = block.enter_context(warnings.catch_warnings(record=True))
        plays = block.enter_context(counted_plays())
        begun = time.perf_counter()
        try:
            game = as_game(env)
            row["prepared"] = time.perf_counter() - begun
            for seed in range(1, RESETS):
                other = env if seed % 5 else made(name)
                reset(other, seed)
                as_game(other)
        except Exception as error:
            return {"outcome": "refused", "message": f"{type(error).__name__}: {error}"[:300]}
        row |= {"plays": len(plays), "traits": sources(game.traits), "kind": type(game).__name__}
        row["step"] = step_seconds(env)
        row["agents"] = {kind: moves_of(name, kind, moves) for kind in AGENTS}
    warned = [one for one in warned if one.category.__module__.startswith("zermelo")]
    return row | {"warned": sorted({str(one.message) for one in warned})}


def points(name, games, agents):
    """The points of each agent that fits against `greedy`; games are cut after 200 moves, as draws."""
    from zermelo.envs import ZermeloError, as_game
    from zermelo.evaluation import play_match

    row = {"outcome": "played", "points": {}, "refused": {}}
    if as_game(made(name)).traits.seats != 2:
        return row
    for kind in agents:
        won = []
        try:
            for number in range(games):
                agents = [f"{kind}(seconds={MEASURED})", f"greedy(seconds={MEASURED})"]
                order = agents if number % 2 == 0 else agents[::-1]
                record = play_match(functools.partial(made, name), order, seed=number, max_moves=200)
                mine, other = record.rewards if number % 2 == 0 else record.rewards[::-1]
                won.append(0.5 if mine == other else float(mine > other))
        except ZermeloError as error:
            row["refused"][kind] = str(error)[:120]
        row["points"][kind] = won
    return row


def examined(name, *options):
    """What ``examine``, or with ``--measure`` what ``measure`` finds in a process of its own."""
    command = [sys.executable, __file__, "--one", name, *options]
    limit = POINTS_TIMEOUT if "--points" in options else TIMEOUT
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"outcome": "timeout", "message": f"longer than {limit} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("ROW ")]
    return json.loads(lines[-1][4:]) if lines else {"outcome": "died", "message": done.stderr[-300:]}


def played(name, games, agents):
    """The points of each agent, by its name; prints them as a row."""
    row = examined(name, "--points", "--games", str(games), "--agents", ",".join(agents))
    cells = [f"{row['outcome']}: {row['message']}"] if "message" in row else []
    for kind, won in row.get("points", {}).items():
        cells.append(f"{kind} {share(won)}" if kind not in row["refused"] else f"{kind}: {row['refused'][kind]}")
    if cells:
        print(f"{name}: {'; '.join(cells)}".replace("\n", " "), flush=True)
    return row.get("points", {})


def share(won):
    """Points as a share with its interval."""
    from zermelo.evaluation.stats.score_interval import wilson_interval

    low, high = wilson_interval(sum(won) / len(won), len(won))
    return f"{sum(won) / len(won):.0%} ({low:.0%} to {high:.0%})"


def described(agent):
    """An agent's moves in a few words."""
    moves = agent["moves"]
    if "raised" in agent or not moves:
        return agent.get("raised") or ("refused" if "refused" in agent else "no move")
    deep, late = sum(move["deep"] for move in moves), max(move["late"] for move in moves)
    most = max(move["simulations"] for move in moves)
    effort = f"{most} simulations" if most else f"depth {max(move['depth'] for move in moves)}"
    return f"{deep}/{len(moves)} {effort} late {late:.2f} waited {max(move['waited'] for move in moves):.1f}"


def measured(name, moves):
    """The rows of an environment, with an empty cache and with a filled one; and prints them as one."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ZERMELO_CACHE_DIR"] = folder
        rows = [examined(name, "--measure", "--moves", str(moves)) for _ in ("cold", "warm")]
    if any(row["outcome"] != "measured" for row in rows):
        print(f"{name}: " + " / ".join(f"{row['outcome']}: {row.get('message', '')}" for row in rows), flush=True)
        return rows
    cold, warm = rows
    step = "?" if warm["step"] is None else f"{1000 * warm['step']:.2f} ms"
    print(f"{name}: prepared in {cold['prepared']:.2f} s, {warm['prepared']:.2f} s, step {step}", end="")
    traits = ", ".join(f"{value} ({source})" for value, source in cold["traits"].values())
    print(f"; played {cold['plays']}, {warm['plays']} times; {traits}", end="")
    for kind in AGENTS:
        print(f"; {kind} {described(cold['agents'][kind])}, {described(warm['agents'][kind])}", end="")
    print(flush=True)
    return rows


def summary(rows):
    """The lines of the summary of rows by name."""
    done = {name: pair for name, pair in rows.items() if all(row["outcome"] == "measured" for row in pair)}
    yield f"{len(done)} of {len(rows)} environments measured, {MEASURED} s a move"
    for nth, cache in enumerate(("an empty", "a filled")):
        taken = sorted((pair[nth]["prepared"], name) for name, pair in done.items())
        worst = ", ".join(f"{name} {seconds:.2f}" for seconds, name in reversed(taken[-5:]))
        usual = statistics.median_low(taken or [(0.0, "")])[0]
        yield f"preparation, {cache} cache: median {usual:.2f} s; worst {worst}"
        plays = Counter(pair[nth]["plays"] for pair in done.values())
        many = [name for name, pair in done.items() if pair[nth]["plays"] > 1]
        yield f"  random plays over {RESETS} resets: {dict(plays)}; more than one: {', '.join(many) or 'none'}"
    for field in TRAITS:
        values = Counter(tuple(pair[0]["traits"][field]) for pair in done.values())
        yield f"{field}: " + ", ".join(f"{value} {source} {n}" for (value, source), n in values.most_common())
    moves = []
    for name, pair in done.items():
        for row in pair:
            for kind, agent in row["agents"].items():
                moves += [move | {"name": f"{name} {kind}", "step": row["step"]} for move in agent["moves"]]
    for limit, about in ((float("inf"), "all"), (0.01, "copy and step < 10 ms")):
        for kind in ("", *AGENTS):
            some = [move for move in moves if (move["step"] or 0) < limit and move["name"].endswith(kind)]
            shallow = sorted({move["name"] for move in some if not move["deep"]})
            share = sum(move["deep"] for move in some) / max(len(some), 1)
            yield f"{about}, {kind or 'all agents'}: {share:.1%} of {len(some)} moves deeper than one ply"
        yield f"  all but: {', '.join(shallow or ['none'])}"
    late = functools.reduce(
        lambda so, move: so | {move["name"]: max(so.get(move["name"], -1), move["late"])}, moves, {}
    )
    ranked = sorted(late.items(), key=lambda item: -item[1])
    yield "late (s): " + ", ".join(f"{name} {seconds:.2f}" for name, seconds in ranked[:12])
    yield f"  more than 0.1 s late: {sum(move['late'] > 0.1 for move in moves)} of {len(moves)} moves"
    few = {}
    for move in moves:
        if move["name"].endswith(" mcts") and (move["step"] or 1) < 0.002 and not move["proven"]:
            few[move["name"]] = min(few.get(move["name"], 50), move["simulations"])
    yield "below 50 simulations with copy and step < 2 ms: " + str({n: s for n, s in few.items() if s < 50})
    for name, pair in rows.items():
        yield from (f"{name} warns: {text}" for text in pair[0].get("warned", ()))
        for row in pair:
            failed = {kind: agent["raised"] for kind, agent in row.get("agents", {}).items() if "raised" in agent}
            if failed or row["outcome"] != "measured":
                yield f"{name}: {row['outcome']}: {row.get('message') or failed}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--install")
    parser.add_argument("--points", action="store_true")
    parser.add_argument("--games", type=int, default=10, help="games of each agent, with --points")
    parser.add_argument("--agents", default=",".join(AGENTS), help="agents of --points, with commas between")
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--moves", type=int, default=3, help="moves of each agent in a process, with --measure")
    parser.add_argument(
        "--stop-after", type=float, default=1e9, help="seconds after which --measure begins no more"
    )
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        os.environ["SDL_VIDEODRIVER"] = os.environ["SDL_AUDIODRIVER"] = "dummy"
        if given.points:
            found = points(given.one, given.games, given.agents.split(","))
        else:
            found = measure(given.one, given.moves) if given.measure else examine(given.one)
        print("\nROW " + json.dumps(found, default=str))
    elif given.install:
        wanted = {one for requirement, _ in LISTED.values() for one in requirement.split(", ") if "==" in one}
        pip = [sys.executable, "-m", "pip", "--python", given.install, "install", "-q", "--no-deps"]
        subprocess.run([*pip, *sorted(wanted)], check=True)
    elif given.measure:
        names, rows, begun = given.names or list(LISTED), {}, time.monotonic()
        random.Random(0).shuffle(names)
        for name in names:
            if time.monotonic() - begun < given.stop_after:
                rows[name] = measured(name, given.moves)
        print("\n".join(summary(rows)))
    elif given.points:
        agents = given.agents.split(",")
        rows = [played(name, given.games, agents) for name in given.names or LISTED]
        for kind in agents:
            won = sorted(sum(row[kind]) / len(row[kind]) for row in rows if len(row.get(kind, ())) == given.games)
            if won:
                print(
                    f"{kind}: median {statistics.median(won):.0%}, least {won[0]:.0%} of {len(won)} environments"
                )
    else:
        for name in given.names or LISTED:
            row = examined(name)
            about = "harmed" if row.get("harmed") else row["outcome"]
            print(f"{name}: {about}: {row['message']}".replace("\n", " ")[:400], flush=True)


if __name__ == "__main__":
    main()
