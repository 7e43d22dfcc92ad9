"""Who meets whom in Swiss and knockout tournaments: from the results so far, and from nothing else."""

import math
import random
from collections import Counter

import pytest

from zermelo.evaluation.match.record import FailureKind
from zermelo.evaluation.results import Result
from zermelo.evaluation.schedule import Pairings, Schedule
from zermelo.evaluation.stats.rounds import BYE, knockout_winners, matches, next_round, round_table


def played_out(pairings, count, rounds, seed=0, games=2):
    """The draws and results of a tournament in which the chance to win goes by the agents' order."""
    chance, agents = random.Random(seed), [f"a{number:03}" for number in range(count)]
    drawn, played = [], []
    for _ in range(rounds):
        drawn.append(next_round(pairings, agents, played))
        results = Counter()
        for first, second in drawn[-1]:
            for seats in [(first, second), (second, first)][:games]:
                better = 1 / (1 + math.exp((agents.index(seats[0]) - agents.index(seats[1])) / count * 6))
                ranks = chance.choices([(0, 1), (0, 0), (1, 0)], [better, 0.5, 1 - better])[0]
                results[Result(seats, ranks)] += 1
        played.append(results)
    return agents, drawn, played


@pytest.mark.parametrize("count", [*range(2, 25), 60])
def test_nobody_meets_twice_in_a_swiss_tournament_nor_rests_twice(count):
    rounds = max(1, count // 2)
    agents, drawn, played = played_out(Pairings.SWISS, count, rounds, seed=count, games=1)
    met = Counter(frozenset(pair) for of_round in drawn for pair in of_round)
    assert set(met.values()) == {1}, f"seed {count}"
    games = Counter(name for of_round in drawn for pair in of_round for name in pair)
    assert set(games.values()) <= {rounds, rounds - count % 2}
    assert all(len(of_round) == count // 2 for of_round in drawn)
    firsts = Counter(first for of_round in drawn for first, _ in of_round)
    assert all(abs(2 * firsts[name] - games[name]) <= 3 for name in agents)
    table = round_table(agents, played, Pairings.SWISS)
    assert sum(other == BYE for line in table for _, other in line) == rounds * (count % 2)


def test_agents_of_as_many_points_meet_and_the_best_come_out_on_top():
    agents, drawn, played = played_out(Pairings.SWISS, 60, 9, seed=3)
    assert drawn[0] == [(agents[k], agents[k + 30]) for k in range(30)]
    points, apart = Counter(), []
    for of_round, results in zip(drawn, played, strict=True):
        apart.append([abs(points[one] - points[other]) for one, other in of_round])
        for match in matches(results):
            points.update(dict(zip(match.agents, match.points, strict=True)))
    assert all(sum(gaps) / len(gaps) < 1 for gaps in apart), apart
    best = sorted(agents, key=lambda name: -points[name])[:10]
    assert sum(agents.index(name) < 20 for name in best) >= 8


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6, 7, 8, 9, 13, 60])
def test_of_a_knockout_one_is_left(count):
    rounds = Schedule([str(k) for k in range(count)], seats=2, games=2, seed=0, pairings=Pairings.KNOCKOUT).rounds
    agents, drawn, played = played_out(Pairings.KNOCKOUT, count, rounds, seed=count)
    assert sum(map(len, drawn)) == count - 1
    lasted = knockout_winners(agents, played)
    assert sorted(lasted.values())[-2:] == [rounds, rounds + 1]
    out = set()
    for of_round, results in zip(drawn, played, strict=True):
        assert not out & {name for pair in of_round for name in pair}
        for match in matches(results):
            out |= {name for name in match.agents if match.points[match.agents.index(name)] < match.games / 2}
    byes = 2**rounds - count
    assert not {*agents[:byes]} & {name for pair in drawn[0] for name in pair}, "the first have byes"


def test_a_drawn_match_goes_to_who_was_ranked_higher_before_it():
    def result(one, other, ranks):
        return {Result((one, other), ranks): 1, Result((other, one), ranks[::-1]): 1}

    first = result("a", "d", (0, 0)) | result("b", "c", (1, 0))
    assert {*next_round(Pairings.KNOCKOUT, "abcd", [first])[0]} == {"a", "c"}, "a was named before d"
    lasted = knockout_winners("abcd", [first, result("a", "c", (0, 0))])
    assert lasted == {"a": 2, "b": 1, "c": 3, "d": 1}, "c has won its first match, and a has drawn it"


def test_void_games_decide_nothing_and_are_a_meeting():
    void = Result(("a", "c"), (), FailureKind.ENVIRONMENT_ERROR)
    first = {void: 2, Result(("b", "d"), (0, 1)): 1, Result(("d", "b"), (1, 0)): 1}
    assert [{*pair} for pair in next_round(Pairings.SWISS, "abcd", [first])] == [{"b", "c"}, {"a", "d"}]
