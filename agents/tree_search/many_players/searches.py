"""The searches of max^n. Paranoid and best-reply search are ``chance.searches.GENERAL``."""

from __future__ import annotations

from typing import Any, Final

from zermelo.agents.tree_search.choose import Family
from zermelo.agents.tree_search.interface import SearchSetup
from zermelo.agents.tree_search.plain import PlainSearch
from zermelo.agents.tree_search.settings import MaxNConfig


def _plain(root: SearchSetup, config: MaxNConfig) -> type[PlainSearch]:
    from zermelo.agents.tree_search.many_players.plain import PlainMaxN

    return PlainMaxN


def _compiled() -> type[Any]:
    from zermelo.agents.tree_search.many_players.compiled import CompiledMaxN

    return CompiledMaxN


MAX_N: Final = Family(_plain, _compiled)
