"""Standings in a notebook: a data frame, plots, and what is said where their packages are missing."""

import sys

import pytest
from doubles.bad_agents import First, Good, Last
from doubles.toy_envs import ToyEnv, WalkEnv

from zermelo.envs import InvalidSettingError, MissingDependencyError
from zermelo.envs.installing import install_command
from zermelo.evaluation import Standings, round_robin


@pytest.fixture(scope="module")
def standings():
    return round_robin(ToyEnv, {"good": Good, "first": First, "last": Last}, games=4)


@pytest.mark.parametrize(
    ("module", "method", "package"),
    [
        ("pandas", "to_pandas", "pandas"),
        ("matplotlib.pyplot", "plot_ratings", "matplotlib"),
        ("matplotlib.pyplot", "plot_crosstable", "matplotlib"),
    ],
)
def test_a_missing_package_is_its_pip_line(standings, module, method, package, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError) as caught:
        getattr(standings, method)()
    assert str(caught.value) == f"{package} is not installed: {install_command('notebook')}"


@pytest.mark.thorough
def test_a_data_frame_has_the_table(standings):
    pytest.importorskip("pandas")
    frame = standings.to_pandas()
    assert [*frame.index] == [row.agent for row in standings.rows]
    for row in standings.rows:
        assert frame.loc[row.agent, "score"] == pytest.approx(row.score)
        assert frame.loc[row.agent, "mean_reward"] == pytest.approx(row.mean_reward)
    assert frame.loc["good", "against first"] == pytest.approx(standings.crosstable["good", "first"])


@pytest.mark.thorough
def test_plots_show_every_agent(standings):
    pytest.importorskip("matplotlib").use("agg")
    from matplotlib import pyplot

    ratings, crosstable = standings.plot_ratings(), standings.plot_crosstable()
    for axes in (ratings, crosstable):
        assert {label.get_text() for label in axes.get_yticklabels()} == {"good", "first", "last"}
        axes.figure.canvas.draw()
    assert {text.get_text() for text in crosstable.texts} == {
        f"{met.mean:.3g}" for met in standings.rewards.values()
    }
    by_wins = Standings.from_records(standings.records, score="wins")
    assert {text.get_text() for text in by_wins.plot_crosstable().texts} == {
        f"{100 * share:.0f}" for share in standings.crosstable.values()
    }
    _, given = pyplot.subplots()
    assert standings.plot_ratings(given) is given
    pyplot.close("all")


def test_a_single_player_has_no_ratings_to_plot():
    with pytest.raises(InvalidSettingError, match="there are no ratings to plot"):
        round_robin(WalkEnv, [First, Last], games=2).plot_ratings()
