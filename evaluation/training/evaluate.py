"""How strong is a policy while it is trained? A rating on a fixed ladder of baselines.

    rating = evaluate_policy(policy, "classic/connect_four-v3", writer="runs/1", step=10_000)
    print(rating)

The baselines meet once, and their ratings from those games are the ladder, which stays as it is from then on.
The policy plays each of them from every seat, and its rating is the one that makes its results most likely.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from zermelo.agents.core.checks import check_whole
from zermelo.agents.learning.policies import agent_of, is_agent
from zermelo.envs import InvalidSettingError, UnsupportedGameError, clone_env
from zermelo.evaluation.errors import EnvironmentFailureError
from zermelo.evaluation.match.env_driver import drive_env
from zermelo.evaluation.match.play import checked_seed
from zermelo.evaluation.match.readiness import require_fit
from zermelo.evaluation.match.record import GameRecord
from zermelo.evaluation.match.sources import AgentSource, EnvSource, build_agent, build_env, env_name, is_live
from zermelo.evaluation.runners.participants import Participant
from zermelo.evaluation.runners.serial import GamePlayer
from zermelo.evaluation.schedule import ScheduledGame, derived_seed
from zermelo.evaluation.stats.standings import Standings
from zermelo.evaluation.training.ladder import POLICY, Ladder, find_ladder
from zermelo.evaluation.training.measures import Accuracy, accuracy_of, check_judged, exploitability_of
from zermelo.evaluation.training.policy import undisturbed
from zermelo.evaluation.training.rating import PolicyRating, RungScore
from zermelo.evaluation.training.scalars import Scalars

_COUNTED: Final = ("games", "wins", "draws", "losses", "score", "interval")


def evaluate_policy(
    policy: Any,
    env: EnvSource,
    *,
    ladder: Sequence[AgentSource] | Mapping[str, AgentSource] | None = None,
    games: int = 20,
    seed: int = 0,
    writer: Any = None,
    step: int | None = None,
    previous: PolicyRating | None = None,
    ladder_path: str | os.PathLike[str] | None = None,
    judge_nodes: int | None = None,
    exploitability: bool = False,
) -> PolicyRating:
    """Rates a policy by games against baselines whose own ratings are fixed.

    The same policy and seed give the same answer, and nothing of the training is disturbed: a live environment is
    cloned, modules return to the mode (``train`` or ``eval``) they were in, and the global random numbers of
    Python, NumPy and PyTorch go on where they were.

    Args:
        policy: A function as ``PolicyAgent`` takes it, such as ``policy(observation, action_mask)``; a model of
            Stable-Baselines3 or sb3-contrib; a PyTorch module, called with a batch of one observation (and of one
            mask, if it takes two inputs); or an agent. None but agents that search are shown the environment.
        env: A name, a function that makes an environment, or a live environment, of which clones are played in.
        ladder: The baselines: texts, agents, or a mapping of names to such. By default ``random`` and those of
            ``greedy``, alpha-beta, expectiminimax and max^n that can play the game.
            They meet once before the first answer, which in slow games takes long: give quicker ones there.
        games: Against each baseline; seats rotate, and each of the openings (random, from the seed) is played once
            from every seat.
        seed: Decides every game, the ladder's included.
        writer: Where scalars for TensorBoard go: an object with ``add_scalar(tag, value, step)``, or a folder.
        step: Of the training, for the scalars.
        previous: An earlier answer, for ``gain``.
        ladder_path: A file (JSON) that keeps the ladder for other processes; made if it is not there. Within a
            process ladders are remembered anyway.
        judge_nodes: For ``accuracy``: the policy's moves in these games are compared with perfect play, by
            searches of at most so many states for the position after each action (a hundred times as many where
            rules are compiled). None compares nothing.
        exploitability: Whether to find ``exploitability``, in small games of hidden information.

    Raises:
        UnknownNameError: No environment or agent has that name.
        InvalidSettingError: A setting is wrong, ``previous`` was rated on another ladder, or the file holds one;
            or what the policy plays is not known without playing, so that nobody can say how exploitable it is.
        UnsupportedGameError: The environment has one seat, a baseline cannot play this game, or there is no
            perfect play or no exploitability in it.
        MissingDependencyError: ``writer`` is a folder and neither TensorBoard nor tensorboardX is installed.
        EnvironmentFailureError: The environment failed in all games.
    """
    seed = checked_seed(seed)
    check_whole("games", games, lower=1)
    if previous is not None and not isinstance(previous, PolicyRating):
        raise InvalidSettingError(f"previous must be what evaluate_policy returned, not {previous!r}")
    with Scalars(writer) as scalars, undisturbed(policy, seed):
        is_source = isinstance(policy, type | str) or is_agent(policy)
        agent = build_agent(policy) if is_source else agent_of(policy, POLICY)
        name, source = env_name(env), env
        if is_live(env):
            source = functools.partial(clone_env, env)
        driver = drive_env(build_env(source)[0], seed)
        seats = driver.seat_names
        if len(seats) < 2:
            raise UnsupportedGameError(
                f"{name} has one seat, so nobody can be met on a ladder: compare returns with round_robin instead"
            )
        require_fit(agent, driver.env, POLICY)
        if judge_nodes is not None:
            check_judged(driver.env, judge_nodes)
        exploited = exploitability_of(agent, source) if exploitability else math.nan
        found = find_ladder(env, source, ladder, seed=seed, path=ladder_path)
        if previous is not None and previous.ladder != found.digest:
            raise InvalidSettingError(
                "previous was rated on another ladder, so the two ratings do not compare: give the same env, "
                "ladder and seed"
            )
        records = _played(agent, source, name, seats, found, games, seed)
        everything = [record for played in records.values() for record in played]
        accuracy = Accuracy() if judge_nodes is None else accuracy_of(everything, source, judge_nodes)
        rating = _rated(records, name, seats, found, seed, accuracy, exploited)
        if previous is not None:
            rating = replace(rating, gain=rating.strength - previous.strength)
        scalars.write(rating, step)
    return rating


def _played(
    agent: Any, source: EnvSource, name: str, seats: tuple[str, ...], ladder: Ladder, games: int, seed: int
) -> dict[str, list[GameRecord]]:
    """The policy's games against each rung: one seat is the policy's, the rung has the others."""
    participants = {rung.name: rung for rung in ladder.participants} | {POLICY: Participant(POLICY, agent)}
    player = GamePlayer(source, name, seats, participants)
    records: dict[str, list[GameRecord]] = {}
    try:
        for number, rung in enumerate(ladder.participants):
            records[rung.name] = []
            for game in range(games):
                block, seat = divmod(game, len(seats))
                opening = ladder.openings[block % len(ladder.openings)] if ladder.openings else ()
                seated = tuple(POLICY if place == seat else rung.name for place in range(len(seats)))
                game_seed = derived_seed(seed, "policy", rung.name, game)
                scheduled = ScheduledGame(f"{block}.{number}.{seat}", game_seed, seated, opening)
                records[rung.name].append(player.play(scheduled))
    finally:
        player.close()
    return records


def _rated(
    records: Mapping[str, list[GameRecord]],
    name: str,
    seats: tuple[str, ...],
    ladder: Ladder,
    seed: int,
    accuracy: Accuracy,
    exploited: float,
) -> PolicyRating:
    against = {
        rung: Standings.from_records(played, agents=[POLICY], env=name, seat_names=seats).row(POLICY)
        for rung, played in records.items()
    }
    everything = [record for played in records.values() for record in played]
    table = Standings.from_records(everything, agents=[POLICY], env=name, seat_names=seats)
    total = table.row(POLICY)
    if not total.games:
        failure = everything[0].failure
        raise EnvironmentFailureError(
            f"{name} failed in every game, so there is nothing to rate: {failure.message if failure else ''}"
        )
    failed = sum(total.failures.values())
    notes = list(table.notes)
    if 2 * failed >= total.games:
        notes.insert(
            0,
            f"The policy failed in {failed} of {total.games} games: this rating is that of its faults, which the "
            "next note names, and says little of its strength.",
        )
    estimate, lower, upper = ladder.place(
        {rung: (row.games, row.score * row.games if row.games else 0.0) for rung, row in against.items()}
    )
    rungs = tuple(
        RungScore(agent=rung, elo=ladder.elo[rung], **{name: getattr(row, name) for name in _COUNTED})
        for rung, row in against.items()
    )
    return PolicyRating(
        env=name,
        rating=estimate,
        lower=lower,
        upper=upper,
        score=total.score,
        rungs=rungs,
        seat_names=seats,
        by_seat=total.by_seat,
        faults=total.failures,
        games=total.games,
        seed=seed,
        ladder=ladder.digest,
        notes=(*notes, *accuracy.notes),
        scoring=table.scoring,
        mean_reward=total.mean_reward,
        reward_interval=total.reward_interval,
        accuracy=accuracy.share,
        accuracy_interval=accuracy.interval,
        judged=accuracy.moves,
        exploitability=exploited,
    )
