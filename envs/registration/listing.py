"""The environments that searches and tournaments know of, for ``zermelo envs``."""

from __future__ import annotations

from dataclasses import dataclass

from zermelo.envs.installing import install_command, is_installed
from zermelo.envs.registration.registry import OWN_ENVS


@dataclass(frozen=True)
class EnvEntry:
    """A line of the list.

    Attributes:
        name: What ``make`` takes.
        players: How many play, as text.
        kind: Board, cards, dice, ... in a word or two.
        information: ``perfect``: any search. ``hidden``: hidden cards or simultaneous moves; searches that do not
            peek (``ismcts``) play the former where it is known what players see.
        needs: The extra that has to be installed, as in ``pip install "zermelo[classic]"``, or nothing.
    """

    name: str
    players: str
    kind: str
    information: str
    needs: str = ""

    @property
    def summary(self) -> str:
        """The line without the name: players, kind, what players see, whether it is installed."""
        players = "1 player" if self.players == "1" else f"{self.players} players"
        search = {"perfect": "searchable", "hidden": "hidden information"}.get(self.information)
        needs = None
        if self.needs:
            needs = "installed" if is_installed(self.needs) else f"not installed: {install_command(self.needs)}"
        return "; ".join(part for part in (players, self.kind, search, needs) if part)


_ENTRIES = (
    EnvEntry("classic/tictactoe-v3", "2", "board", "perfect", "classic"),
    EnvEntry("classic/connect_four-v3", "2", "board", "perfect", "classic"),
    EnvEntry("classic/chess-v6", "2", "board", "perfect", "classic"),
    EnvEntry("classic/go-v5", "2", "board", "perfect", "classic"),
    EnvEntry("classic/hanabi-v5", "2-5", "cards", "hidden", "classic"),
    EnvEntry("classic/leduc_holdem-v4", "2", "cards", "hidden", "classic"),
    EnvEntry("classic/rps-v2", "2", "simultaneous", "hidden", "classic"),
    EnvEntry("classic/texas_holdem-v4", "2 or more", "cards", "hidden", "classic"),
    EnvEntry("classic/texas_holdem_no_limit-v6", "2 or more", "cards", "hidden", "classic"),
    EnvEntry("FrozenLake-v1", "1", "grid, exact chance", "perfect"),
    EnvEntry("Taxi-v4", "1", "grid", "perfect"),
    EnvEntry("CliffWalking-v1", "1", "grid", "perfect"),
    EnvEntry("Blackjack-v1", "1", "cards, sampled chance", "perfect"),
)
_OPENSPIEL = EnvEntry("openspiel/<game>", "any", "OpenSpiel's games, through Shimmy", "by game", "openspiel")


def list_envs(*, openspiel: bool = False) -> list[EnvEntry]:
    """The environments of this package, PettingZoo's classics, Gymnasium's tables, and OpenSpiel.

    Others work too: any AEC or Gymnasium environment, by its id or as ``module:function``.

    Args:
        openspiel: List OpenSpiel's turn-based games one by one, if OpenSpiel is installed; otherwise one line
            stands for them all.
    """
    own = [EnvEntry(env.id, env.players, env.kind, env.information) for env in OWN_ENVS.values()]
    games = _openspiel_games() if openspiel else []
    return [*own, *_ENTRIES, *(games or [_OPENSPIEL])]


def _openspiel_games() -> list[EnvEntry]:
    try:
        import pyspiel
    except ImportError:
        return []
    entries = []
    for game in pyspiel.registered_games():
        if game.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL or not game.default_loadable:
            continue
        least, most = game.min_num_players, game.max_num_players
        perfect = game.information == pyspiel.GameType.Information.PERFECT_INFORMATION
        entries.append(
            EnvEntry(
                f"openspiel/{game.short_name}",
                str(least) if least == most else f"{least}-{most}",
                game.long_name,
                "perfect" if perfect else "hidden",
                "openspiel",
            )
        )
    return entries
