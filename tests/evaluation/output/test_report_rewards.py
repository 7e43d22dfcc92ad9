"""The report of games that pay amounts, and of teams."""

import re

from zermelo.evaluation import EndReason, GameRecord
from zermelo.evaluation.output.report import report_page


def game(number, pairing, turn, agents, rewards):
    return GameRecord(
        env="no such environment",
        agents=tuple(agents),
        seat_names=("x", "y"),
        seed=number,
        rewards=tuple(map(float, rewards)),
        end=EndReason.TERMINATED,
        game_id=f"{number}.{pairing}.{turn}",
    )


def headings(page):
    return re.findall(r"<h2[^>]*>([^<]*)</h2>", page)


def test_chips_come_before_ratings():
    records = [
        game(number, 0, turn, agents, (won, -won))
        for number in range(6)
        for turn, (agents, won) in enumerate([("ab", number), ("ba", number - 2)])
    ]
    page = report_page(records)
    assert headings(page)[1:5] == ["Rewards", "Who wins from whom", "Ratings", "Score by seat"]
    assert "Ratings count games won, drawn and lost, however much was at stake." in page
    assert 'title="a against b: 1 to 1, 6 deals"' in page
    assert '<td class="n">1</td>' in page


def test_teams_have_scores_and_no_ratings():
    records = [
        game(number, pairing, turn, agents, (score + number, score + number))
        for number in range(3)
        for pairing, (agents, score) in enumerate([("aa", 9), ("ab", 2), ("bb", 5)])
        for turn in (0, 1)
    ]
    page = report_page(records)
    # The games were made without moves, so each repeats another: that is the first thing to read.
    assert headings(page)[:3] == ["Read this first", "Scores of teams", "Who plays well with whom"]
    assert "Ratings" not in headings(page)
    assert "Elo" not in page.partition("<script")[0]
    assert "a, alone" in page
    assert "b, mixed" in page
