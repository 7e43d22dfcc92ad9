"""Games that pay amounts: mean rewards, their intervals by deal, what decides the scoring, and teams."""

import csv
import io
import json
import math
import random
import re

import pytest
from doubles.made_games import toy_game as game

from zermelo.evaluation import Standings
from zermelo.evaluation.match.score import Scoring
from zermelo.evaluation.stats.rewards import Rewards, scoring_of
from zermelo.evaluation.stats.score_interval import student_interval
from zermelo.evaluation.storage.counting import count_games


def deal(number, first, second, pairing=0, agents="ab"):
    """What the first agent wins of a deal from the first seat, and from the second."""
    one, two = agents
    return [
        game((one, two), (first, -first), f"{number}.{pairing}.0"),
        game((two, one), (-second, second), f"{number}.{pairing}.1"),
    ]


def chips(deals, luck, seed=0, edge=0.3):
    """Deals whose cards decide ``luck`` chips for a seat, whoever has it, and in which the first is better."""
    dice, records = random.Random(seed), []
    for number in range(deals):
        cards = dice.choice([-luck, luck])
        first, second = (edge + side * cards + dice.choice([-1, 1]) for side in (1, -1))
        records += deal(number, first, second)
    return records


def test_the_mean_reward_and_students_interval_over_deals_by_hand():
    records = deal(0, 3, -1) + deal(1, 0.5, 0.5) + deal(2, -2, 4) + deal(3, 1, 1)
    standings = Standings.from_records(records)
    a, b = standings.row("a"), standings.row("b")
    by_deal = [1.0, 0.5, 1.0, 1.0]
    assert standings.scoring is Scoring.REWARDS
    assert (a.mean_reward, b.mean_reward) == (0.875, -0.875)
    assert a.reward_interval == pytest.approx(student_interval(by_deal))
    assert (a.games, a.deals) == (8, 4)
    assert [seat.reward for seat in a.by_seat] == pytest.approx([2.5 / 4, 4.5 / 4])
    met = standings.rewards["b", "a"]
    assert (met.mean, met.games, met.deals) == (-0.875, 8, 4)


def test_the_agent_that_earns_more_leads_though_it_wins_fewer_games():
    """Four small pots lost, one large one won: what the crosstable of wins calls 20 %."""
    records = [record for number in range(4) for record in deal(number, -1, -1)] + deal(4, 10, 10)
    standings = Standings.from_records(records)
    assert [row.agent for row in standings.rows] == ["a", "b"]
    assert standings.row("a").score == pytest.approx(0.2)
    by_wins = Standings.from_records(records, score="wins")
    assert [row.agent for row in by_wins.rows] == ["b", "a"]
    assert by_wins.row("a").mean_reward == standings.row("a").mean_reward == pytest.approx(1.2)


def test_cards_that_both_agents_are_dealt_do_not_widen_the_interval():
    def width(records):
        low, high = Standings.from_records(records).row("a").reward_interval
        return high - low

    paired = chips(200, luck=5)
    apart = [game(record.agents, record.rewards) for record in paired]
    assert width(paired) < width(apart) / 4
    assert width(chips(200, luck=0)) == pytest.approx(width(paired), rel=0.25)


def test_of_95_percent_intervals_about_that_many_hold_the_truth():
    held, repeats = 0, 100
    for seed in range(repeats):
        low, high = Rewards(count_games(chips(10, 3, seed)), Scoring.REWARDS).of("a").interval
        held += low <= 0.3 <= high
    assert 0.93 - 3 * math.sqrt(0.95 * 0.05 / repeats) < held / repeats


def test_line_ups_are_strata_as_the_schedule_decides_who_is_met():
    """What differs from opponent to opponent is no error of the mean over both."""
    dice = random.Random(1)
    weak = [record for n in range(40) for record in deal(n, 9 + dice.random(), 9, 0, "ab")]
    strong = [record for n in range(40) for record in deal(n, -9 + dice.random(), -9, 1, "ac")]
    row = Standings.from_records(weak + strong).row("a")
    low, high = row.reward_interval
    assert row.mean_reward == pytest.approx(0.25, abs=0.1)
    assert high - low < 0.2
    few = Standings.from_records(weak[:2] + strong[:2]).row("a")
    assert few.reward_interval[1] - few.reward_interval[0] > 18, "a deal each says nothing of the cards"


def test_a_failed_game_counts_as_the_worst_that_was_seen():
    records = [*deal(0, 3, -7), game("ab", (0, 0), "1.0.0", failure=0), game("ba", (1, -1), "1.0.1")]
    standings = Standings.from_records(records)
    assert standings.row("a").mean_reward == pytest.approx((3 - 7 - 7 - 1) / 4)
    assert standings.row("b").mean_reward == pytest.approx((-3 + 7 + 7 + 1) / 4)
    assert [row.deals for row in standings.rows] == [2, 2]
    assert "A failed game was not finished: it counts as the lowest reward" in str(standings)


def test_an_odd_game_out_is_a_deal_of_its_own():
    row = Standings.from_records([*deal(0, 1, 3), *deal(1, 2, 2), game("ab", (4, -4), "2.0.0")]).row("a")
    assert (row.games, row.deals) == (5, 3)
    assert row.mean_reward == pytest.approx(12 / 5)


def test_the_order_of_the_games_does_not_matter():
    records = [*chips(30, 2), game("ab", (0, 0), "90.0.0", failure=1)]
    forwards, backwards = count_games(records), count_games(records[::-1])
    assert forwards.rotations == backwards.rotations
    assert sum(deals.count for deals in forwards.rotations.values()) == 31


@pytest.mark.parametrize(
    ("paid", "scoring"),
    [
        ([(1, -1), (-1, 1), (0, 0)], "wins"),
        ([(1, 0), (0, 1), (0.5, 0.5)], "wins"),
        ([(3, 0), (0, 3), (1, 1)], "wins"),
        ([(0, 0), (0, 0)], "wins"),
        ([(1, -1), (2, -2)], "rewards"),
        ([(1, -1), (-2, 2)], "rewards"),
        ([(0, 0), (2, 2)], "team"),
        ([(0, 0), (2, 2), (1, 0)], "rewards"),
        ([(math.inf, 0), (2, 1)], "wins"),
        ([(1, 0, 0), (0, 1, 0), (1, 1, 0)], "wins"),
        ([(3, 1, 0), (0, 2, 1)], "rewards"),
        ([], "wins"),
    ],
)
def test_what_games_paid_decides_what_the_tables_rank_by(paid, scoring):
    totals = count_games(game("abc"[: len(rewards)], rewards) for rewards in paid)
    assert scoring_of(totals) == scoring
    assert scoring_of(totals, "wins") is Scoring.WINS


def test_rewards_that_are_not_known_are_not_guessed():
    standings = Standings.from_records([game("ab", (math.inf, 0)), game("ba", (1, 2))], score="rewards")
    assert math.isnan(standings.row("a").mean_reward)
    assert "toy: 2 games" in str(standings)
    assert json.loads(standings.to_json())["agents"][0]["mean_reward"] is None
    nobody = Standings.from_records([game("ab", (0, 0), failure=1)], score="rewards")
    assert math.isnan(nobody.row("a").mean_reward)


def test_three_seats_rotate_as_one_deal():
    seats = ["abc", "bca", "cab"]
    records = [game(seats[turn], (6, -2, -4), f"{block}.0.{turn}") for block in range(3) for turn in range(3)]
    standings = Standings.from_records(records, score="rewards")
    assert [(row.mean_reward, row.deals, row.reward_interval) for row in standings.rows] == [
        (0.0, 3, (0.0, 0.0))
    ] * 3
    assert standings.rewards["a", "b"].deals == 3


def test_a_test_of_who_earns_more():
    rewards = Rewards(count_games(chips(100, 3)), Scoring.REWARDS)
    assert rewards.inferiority("a", "b") < 0.01
    assert rewards.inferiority("b", "a") > 0.99
    assert Rewards(count_games(deal(0, 5, 5)), Scoring.REWARDS).inferiority("a", "b") == 1.0
    alike = [record for number in range(4) for record in deal(number, 5, 5)]
    assert 0.001 < Rewards(count_games(alike), Scoring.REWARDS).inferiority("a", "b") < 0.01
    even = Rewards(count_games(deal(0, 5, -5) + deal(1, 5, -5)), Scoring.REWARDS)
    assert even.inferiority("a", "b") == even.inferiority("b", "a") == 1.0


def test_the_tables_of_a_cash_game():
    text = str(Standings.from_records(chips(50, 2)))
    assert re.search(r"^# +agent +games +won +drawn +lost +reward +95 % interval$", text, re.MULTILINE)
    assert re.search(r"^1 +a +· +0\.\d+ ± 0\.\d+ ", text, re.MULTILINE)
    assert "reward: the mean of what a game paid an agent" in text
    assert "Ratings count games won, drawn and lost" in text


def teams():
    """Two agents that are good with themselves, and not with each other."""
    records = []
    for number in range(6):
        for pairing, (agents, score) in enumerate([("aa", 10), ("ab", 3), ("bb", 8)]):
            for turn in (0, 1):
                value = score + (number + turn) % 2
                records.append(
                    game(agents if turn == 0 else agents[::-1], (value, value), f"{number}.{pairing}.{turn}")
                )
    return records


def test_a_team_has_one_score_and_no_rating():
    standings = Standings.from_records(teams())
    assert standings.scoring is Scoring.TEAM
    assert standings.ratings is None
    assert [row.agent for row in standings.rows] == ["a", "b"]
    assert standings.alone("a").mean == 10.5
    assert standings.mixed("a").mean == standings.mixed("b").mean == 3.5
    assert standings.rewards["a", "b"] == standings.rewards["b", "a"]
    text = str(standings)
    assert re.search(r"^# +agent +games +alone +95 % interval +mixed +95 % interval$", text, re.MULTILINE)
    assert "cooperative: all seats of a game are paid alike" in text
    assert "Elo" not in text
    assert "won" not in text.splitlines()[2]


def test_files_have_the_rewards():
    data = json.loads(Standings.from_records(chips(20, 1)).to_json())
    assert data["scoring"] == "rewards"
    first = data["agents"][0]
    assert first["rewards_against"]["b"]["deals"] == first["deals"] == 20
    assert first["rewards_against"]["b"]["mean"] == pytest.approx(first["mean_reward"])
    rows = list(csv.DictReader(io.StringIO(Standings.from_records(chips(20, 1)).to_csv())))
    assert float(rows[0]["reward against b"]) == pytest.approx(first["mean_reward"])
    assert float(rows[0]["reward_low"]) < first["mean_reward"] < float(rows[0]["reward_high"])
    both = list(csv.DictReader(io.StringIO(Standings.from_records(teams()).to_csv())))
    assert both[0]["reward with a"] == "10.5"
