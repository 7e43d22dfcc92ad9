"""Tables and notes are said for people: one sign for no bound, no -0, names and titles that say something."""

import re

import pytest
from doubles import toy_envs
from doubles.bad_agents import First, Good, Raises

from zermelo.evaluation import elo, fit_ratings, round_robin
from zermelo.evaluation.cli import main
from zermelo.evaluation.match.text import rounded
from zermelo.evaluation.output.numbers import four_digits, number
from zermelo.evaluation.report.page import report_page
from zermelo.evaluation.storage.invocations import read_run


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


def test_nobody_drew():
    assert (
        "One win more or less would change who leads, a or b."
        in fit_ratings([("a", "b", 1), ("a", "b", 1), ("b", "a", 1)]).leader_note
    )


def test_whoever_failed_in_every_game_has_no_number_beside_it():
    text = str(round_robin(toy_envs.ToyEnv, {"good": Good, "first": First, "raises": Raises}, games=4))
    row = next(line for line in text.splitlines() if re.match(r"3  raises +not rated", line))
    assert not re.search(r"\d", row[2:])
