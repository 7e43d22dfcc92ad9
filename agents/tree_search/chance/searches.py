"""The searches of one seat against all others, or alone, with or without chance."""

from __future__ import annotations

from typing import Any, Final

from zermelo.agents.tree_search.alpha_beta.searches import ALPHA_BETA
from zermelo.agents.tree_search.choose import Family
from zermelo.agents.tree_search.interface import SearchSetup
from zermelo.agents.tree_search.plain import PlainSearch
from zermelo.agents.tree_search.settings import AlphaBetaConfig, ChancePruning
from zermelo.envs.game import Chance


def _plain(root: SearchSetup, config: AlphaBetaConfig) -> type[PlainSearch]:
    if config.replies is not None:
        from zermelo.agents.tree_search.chance.plain_replies import PlainReplies

        return PlainReplies
    if root.view.traits.chance is Chance.NONE:
        return ALPHA_BETA.plain(root, config)
    if config.pruning is ChancePruning.STAR2:
        from zermelo.agents.tree_search.chance.plain_probing import PlainProbing

        return PlainProbing
    from zermelo.agents.tree_search.chance.plain_star import PlainBeam, PlainStar

    return PlainBeam if config.beam_width and not config.prunes else PlainStar


def _compiled() -> type[Any]:
    from zermelo.agents.tree_search.chance.compiled import CompiledGeneralSearch

    return CompiledGeneralSearch


GENERAL: Final = Family(_plain, _compiled)
