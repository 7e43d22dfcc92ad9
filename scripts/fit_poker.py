#!/usr/bin/env python
"""Computes a policy of Texas hold'em for two over buckets of hands, by CFR, and writes it to a file.

    python scripts/fit_poker.py limit agents/experts/poker/limit.npz --seconds 40
    python scripts/fit_poker.py no_limit agents/experts/poker/no_limit.npz --seconds 600
        --equity 12 12 30 --spread 2 2 1

``holdem(policy=FILE)`` plays by it. Those two files are shipped, after 1.8 and 1.0 million deals. Boards are
drawn anew all the time; progress shows the average payoff of the small blind, which settles.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from poker_cfr import Boards, PublicTreeCFR, fit_buckets

from zermelo.agents.experts.poker.agent import PokerPolicy, quantized
from zermelo.agents.experts.poker.betting import Limit, NoLimit, betting_tree
from zermelo.agents.experts.poker.cards import Sizes, is_compiled

DEALS = 20_000  # in a batch
FLOPS = 20  # that these are of
BATCHES = 10  # with the same flops
BOARDS = 200  # of each round that buckets are fitted on


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", choices=("limit", "no_limit"))
    parser.add_argument("path")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument(
        "--equity", type=int, nargs=3, default=(20, 20, 40), help="buckets by equity, of each round"
    )
    parser.add_argument("--spread", type=int, nargs=3, default=(3, 3, 1), help="of each of those, by spread")
    parser.add_argument("--tremble", type=float, default=0.03, help="how often the other player plays at random")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started, generator = time.perf_counter(), np.random.default_rng(options.seed)
    is_compiled()
    rules = Limit() if options.game == "limit" else NoLimit()
    buckets = fit_buckets(Sizes(tuple(options.equity), tuple(options.spread)), BOARDS, options.seed)
    cfr = PublicTreeCFR(betting_tree(rules), buckets.sizes.types, tremble=options.tremble)
    values, shown = [], started
    while (now := time.perf_counter()) < started + options.seconds:
        if len(values) % BATCHES == 0:
            boards = Boards(buckets, FLOPS, generator)
        cfr.iterate(boards.deals(DEALS))
        values.append(cfr.value)
        if now > shown + 30:
            shown, late = now, values[len(values) // 2 :]
            print(f"{now - started:.0f} s, {len(values) * DEALS:,} deals, {np.mean(late):+.4f}", flush=True)
    policy = PokerPolicy(rules, buckets, quantized(cfr.average()), float(np.mean(values[len(values) // 2 :])))
    policy.save(options.path)
    print(
        f"{len(values) * DEALS:,} deals, {len(policy.shares):,} entries, the small blind gets {policy.value:+.4f}"
    )


if __name__ == "__main__":
    main()
