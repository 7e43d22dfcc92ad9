"""A fresh environment for every game, so that nothing is left in it of the last one.

Making one may take longer than playing a short game in it. Where the environment is of a kind whose clones are
known to be right (``zermelo.envs.clone.verify``), one is made, never used, and cloned for each game.
"""

from __future__ import annotations

from typing import Any

from zermelo.envs import CloneError, clone_env
from zermelo.envs.clone.verify import is_known_to_clone
from zermelo.evaluation.match.sources import EnvSource, build_env, is_live

__all__ = ["FreshEnvs"]


class FreshEnvs:
    """Makes environments.

    Args:
        source: What makes them; a live environment is handed out itself.
    """

    def __init__(self, source: EnvSource) -> None:
        self._source = source
        self._unused: Any = None
        self._asked = False

    def make(self) -> Any:
        """An environment in which nothing has been played, not yet reset.

        Raises:
            ZermeloError: It cannot be made; see ``build_env``.
        """
        if self._unused is not None:
            return clone_env(self._unused)
        made = build_env(self._source)[0]
        if not self._asked:
            self._asked = True
            if not is_live(self._source) and is_known_to_clone(made):
                try:
                    self._unused = clone_env(made)
                except CloneError:
                    self._unused = None  # then each is made
        return made
