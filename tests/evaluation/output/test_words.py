"""Tables and notes are said for people: one sign for no bound, no -0, names and titles that say something."""

import re

import numpy as np
import pytest
from doubles import toy_envs
from doubles.bad_agents import First, Good, Raises
from doubles.game_envs import Numbers

from zermelo.evaluation import (
    RatingCurve,
    attack,
    elo,
    fit_ratings,
    rate_checkpoints,
    read_standings,
    round_robin,
)
from zermelo.evaluation.cli import main
from zermelo.evaluation.match.text import rounded
from zermelo.evaluation.output.numbers import four_digits, number
from zermelo.evaluation.report.page import report_page, training_page
from zermelo.evaluation.storage.curves import read_curve
from zermelo.evaluation.storage.invocations import read_run
from zermelo.evaluation.training.checkpoints import name_of


@pytest.mark.parametrize("value", [-0.0, -0.04])
def test_nothing_is_minus_zero(value):
    assert [rounded(value), rounded(value, 1), number(value), four_digits(0 * value)] == ["0", "0.0", "0", "0"]
    assert rounded(value, 1, "+") == "+0.0"


def test_no_bound_has_one_sign_everywhere():
    standings = round_robin(toy_envs.ToyEnv, {"good": Good, "first": First}, games=2)
    text = str(standings)
    written = report_page(standings.records, standings=standings)
    page = re.sub(r"<(script|style).*?</\1>|<[^>]*>", " ", written, flags=re.DOTALL)
    assert "∞" in text
    assert "∞" in page
    for said in (text, page, str(elo(wins=7)), str(elo(losses=7))):
        found = re.search(r"[ >+-]inf\b|> \d|~-?\d|smoothed|\bnan\b", said.replace("> 99.9", ""))
        assert not found, said[found.start() - 50 :][:100]
    assert str(elo(wins=7)).startswith("Elo +∞ (95 %: +")
    assert str(elo(losses=7)).startswith("Elo -∞ (95 %: -∞ to -")


def test_an_environment_is_called_by_its_own_name(tmp_path, capsys):
    standings = round_robin(lambda: toy_envs.ToyEnv(), {"good": Good, "first": First}, games=2, out=tmp_path)
    assert standings.env.endswith("<lambda>")
    name = toy_envs.ToyEnv.metadata["name"]
    assert str(standings).startswith(f"{name}: 2 games")
    with pytest.raises(SystemExit):
        main(["standings", str(tmp_path)])
    assert capsys.readouterr().out.startswith(f"{name}: 2 games")
    page = report_page(standings.records, standings=standings, run=read_run(tmp_path))
    assert f"<title>{name}: 2 games</title>" in page


def first_legal(observation, action_mask):
    return int(np.flatnonzero(action_mask)[0])


def test_results_name_the_environment_and_the_policy_and_say_once_what_searches_assume(tmp_path):
    def numbers():
        return Numbers(length=2)

    name, search = Numbers.metadata["name"], "mcts(simulations=10)"
    curve = RatingCurve(numbers, every=1, ladder=[search], games=2, path=tmp_path / "curve.jsonl")
    rating = curve.update(first_legal, 1)
    rated = rate_checkpoints(numbers, {1: "random", 2: first_legal}, ladder=[search], games=20)
    found = attack(numbers, first_legal, search, games=2, out=tmp_path)
    assert str(rating).startswith(f"first_legal in {name}: ")
    assert str(rated).startswith(f"{name}: 2 checkpoints")
    assert str(found).startswith(f"{name}: how first_legal is beaten")
    pages = [training_page([read_curve(tmp_path / "curve.jsonl")]), rated.to_html()]
    assert f"Training of first_legal in {name}</h2>" in pages[0]
    assert f"Training of random to step 2 in {name}</h2>" in pages[1]
    standings = read_standings(tmp_path)
    pages.append(report_page(standings.records, standings=standings, attack=found.to_dict()))
    for page in pages:
        assert f"<title>{name}: " in page
        assert "numbers</" not in page
    for said in (str(rating), str(curve), str(rated), str(found), *pages[1:]):
        assert said.count("Searches rest on what play did not contradict: chance: deterministic") == 1
        assert said.count("say so in its class: zermelo_traits = {") == 1


@pytest.mark.parametrize(
    ("names", "name"),
    [
        (["ppo_512_steps", "ppo_1024_steps"], "ppo"),
        (["ppo_1024", "ppo_1536"], "ppo"),
        (["connect4_1000", "connect4_2000"], "connect4"),
        (["runs/step-1/model", "runs/step-2/model"], "runs"),
        (["100", "200"], "100 to 200"),
        (["random", "mcts(simulations=2)"], "random to mcts(simulations=2)"),
    ],
)
def test_a_training_is_called_by_what_its_checkpoints_have_in_common(names, name):
    assert name_of(names) == name


def test_nobody_drew():
    assert (
        "One win more or less would change who leads, a or b."
        in fit_ratings([("a", "b", 1), ("a", "b", 1), ("b", "a", 1)]).leader_note
    )


def test_whoever_failed_in_every_game_has_no_number_beside_it():
    text = str(round_robin(toy_envs.ToyEnv, {"good": Good, "first": First, "raises": Raises}, games=4))
    row = next(line for line in text.splitlines() if re.match(r"3  raises +not rated", line))
    assert not re.search(r"\d", row[2:])
