"""The searches of two players with a constant sum, without chance."""

from __future__ import annotations

from typing import Any, Final

from zermelo.agents.tree_search.alpha_beta.plain import PlainAlphaBeta
from zermelo.agents.tree_search.choose import Family
from zermelo.agents.tree_search.interface import SearchSetup
from zermelo.agents.tree_search.settings import AlphaBetaConfig


def _plain(root: SearchSetup, config: AlphaBetaConfig) -> type[PlainAlphaBeta]:
    if config.quiescence:
        from zermelo.agents.tree_search.alpha_beta.plain_quiet import PlainQuiescence, quiescence_of

        if quiescence_of(root.view, config):
            return PlainQuiescence
    return PlainAlphaBeta


def _compiled() -> type[Any]:
    from zermelo.agents.tree_search.alpha_beta.compiled import CompiledAlphaBeta

    return CompiledAlphaBeta


ALPHA_BETA: Final = Family(_plain, _compiled)
