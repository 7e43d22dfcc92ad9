"""A recorded game played again on a fresh environment, one action at a time."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from zermelo.envs.checks.differences import Place, clocks, differences
from zermelo.envs.errors import InvalidSettingError, ZermeloError
from zermelo.envs.registration.registry import env_runs_own_code
from zermelo.envs.support.spec_text import parse_spec
from zermelo.evaluation.match.live_game import EnvDriver, drive_env
from zermelo.evaluation.match.record import EndReason, GameRecord
from zermelo.evaluation.match.sources import EnvSource, build_env

_RESETS: Final = 5  # with one seed, to see whether they start alike


class ReplayError(ZermeloError):
    """A recorded game cannot be played again: its environment is not there, or no longer does as it did."""


class Replayer:
    """Plays recorded games again, with one environment for all of them.

    ``env`` makes it, except where it is a name that records have too, with settings of their own (openings from
    positions); by default it is the one that a record names. Records may be anybody's: only with ``trust`` is a
    module imported that they name (``module:function``).
    """

    def __init__(self, env: EnvSource | None = None, *, trust: bool = False) -> None:
        self._source = env
        self._trust = trust
        self._env: Any = None
        self._made_of: EnvSource | None = None
        self._repeats = True

    def start(self, record: GameRecord) -> EnvDriver:
        """The environment as the game began, before its opening; raises ``ReplayError`` if it cannot be made."""
        source = record.env if self._source is None or _is_same_name(self._source, record.env) else self._source
        if self._source is None and not self._trust and env_runs_own_code(record.env):
            module = record.env.partition(":")[0] if ":" in record.env.partition("(")[0] else "what it names"
            raise ReplayError(
                f"{_shown(record.env)} is not played again, because that would run the code of {_shown(module)}, "
                "and a record may name any: if you know it, give --trust (trust=True, or env=...)"
            )
        try:
            if self._env is None or (self._made_of is not source and self._made_of != source):
                self._env, self._made_of = build_env(source)[0], source
                self._repeats = _starts_alike(self._env, record.seed)
            if not self._repeats:
                raise ReplayError(
                    "the environment does not repeat games: it starts otherwise after another reset with the same "
                    "seed"
                )
            return drive_env(self._env, record.seed)
        except ZermeloError as error:
            raise ReplayError(f"{record.env} cannot be played again: {error}") from error

    def steps(self, record: GameRecord, driver: EnvDriver) -> Iterator[tuple[int, Any]]:
        """The seat to move and the action as ``env.step`` takes it, each before it is played.

        Every action, those of the opening included, is played when the next one is asked for. Raises
        ``ReplayError`` where the seat to move or what is legal differs from the record, and after the last move
        where the end and the rewards do.
        """
        game = f"game {record.game_id or '(without an id)'} of {record.env}"
        for ply, action in enumerate(record.actions):
            where = f"{game}, at move {ply + 1}"
            try:
                seat = driver.turn()
                played = _stepped(driver.env, action)
                refusal = "after the end" if seat is None else driver.refusal(played)
                recorded = None if ply < len(record.opening) else record.moves[ply - len(record.opening)].seat
                if refusal is None and recorded is not None and recorded != seat:
                    refusal = f"by seat {recorded + 1} when it was the turn of seat {(seat or 0) + 1}"
                if refusal is not None or seat is None:
                    raise ReplayError(
                        f"{where}, cannot be played again: the environment has changed, or does not follow its "
                        f"seed; the record has a move {refusal}"
                    )
                yield seat, played
                driver.step(played)
            except ReplayError:
                raise
            except ZermeloError as error:
                raise ReplayError(f"{where}, cannot be played again: {error}") from error
        if record.end in (EndReason.TERMINATED, EndReason.TRUNCATED):
            self._compare_end(record, driver, game)

    def _compare_end(self, record: GameRecord, driver: EnvDriver, game: str) -> None:
        try:
            is_over, rewards = driver.turn() is None, driver.rewards
        except ZermeloError as error:
            raise ReplayError(f"{game} cannot be played again: {error}") from error
        if not is_over or not _agree(record.rewards, rewards):
            now = f"earn {_listed(rewards)}" if is_over else "do not end it"
            raise ReplayError(
                f"{game} cannot be played again: the environment does not repeat games: the moves earned "
                f"{_listed(record.rewards)} in the record, and now {now}, so reset(seed=...) does not use the "
                "seed, or the environment has changed"
            )


def _starts_alike(env: Any, seed: int) -> bool:
    """Whether resets with one seed show the seat to move the same; what cannot be compared counts as the same."""
    found: dict[Place, list[tuple[Any, Any]]] = {}
    with contextlib.suppress(Exception):  # a failure shows again where the game is started
        seen = [_first_view(drive_env(env, seed)) for _ in range(_RESETS)]
        for other in seen[1:]:
            for place, *values in differences(seen[0], other):
                found.setdefault(place, []).append((values[0], values[1]))
    return clocks(found) is not None


def _first_view(driver: EnvDriver) -> dict[str, Any]:
    return {"seat": driver.turn(), "observation": driver.view().observation}


def _agree(recorded: Sequence[float], played: Sequence[float]) -> bool:
    return len(recorded) == len(played) and all(
        math.isclose(before, now, rel_tol=1e-6, abs_tol=1e-9) or not math.isfinite(now)
        for before, now in zip(recorded, played, strict=True)
    )


def _listed(rewards: Sequence[float]) -> str:
    return ", ".join(f"{reward:g}" for reward in rewards)


def _is_same_name(source: EnvSource, env: str) -> bool:
    """Whether a source is text with the same name as a record's environment, which runs no code of its own."""
    try:
        is_same = isinstance(source, str) and parse_spec(source).name == parse_spec(env).name
        return is_same and not env_runs_own_code(env)
    except InvalidSettingError:
        return False


def _shown(text: str) -> str:
    return ascii(text[:80]).strip("'\"")


def _stepped(env: Any, action: Any) -> Any:
    """A recorded action as ``env.step`` takes it: records keep arrays as tuples."""
    if not isinstance(action, tuple):
        return action
    agent = getattr(env, "agent_selection", None)
    space = env.action_space if agent is None else env.action_space(agent)
    kind = getattr(space, "dtype", None)
    return action if kind is None else np.asarray(action, dtype=kind)
