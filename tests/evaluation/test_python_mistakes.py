"""Mistakes that a new user makes in Python, each with what is said: no error without a sentence of ours."""

from __future__ import annotations

import pytest

from zermelo import agents, envs, evaluation
from zermelo.agents import training
from zermelo.agents.base.limits import Limits
from zermelo.envs import ZermeloError
from zermelo.evaluation.stats.ratings.sprt import Sprt
from zermelo.evaluation.tournament.plan import Tournament
from zermelo.evaluation.workers.settings import AgentLimits

GAME = "zermelo/MNK-v0"
PAIR = ["random", "greedy"]


def _live():
    env = envs.make(GAME)
    env.reset(seed=0)
    return env


def _fails(record):
    raise KeyError("in the user's own function")


MISTAKES = {
    # Agents.
    lambda: agents.AlphaBetaAgent(detph=3): "AlphaBetaAgent has no setting 'detph': did you mean 'depth'?",
    lambda: agents.AlphaBetaAgent(
        time_limit=1
    ): "AlphaBetaAgent has no setting 'time_limit': did you mean 'seconds'?",
    lambda: agents.AlphaBetaAgent(
        3
    ): "AlphaBetaAgent does not take 3 without a name: give it by its name, as in depth=",
    lambda: agents.AlphaBetaAgent(depth="3"): "depth must be a whole number of at least 1, not '3'",
    lambda: agents.AlphaBetaAgent(compile="wiat"): "not 'wiat': did you mean 'wait'?",
    lambda: agents.AlphaBetaAgent(backend="clones"): "not 'clones': did you mean 'clone'?",
    lambda: agents.AlphaBetaAgent().search(
        GAME, depth=3
    ): "search has no setting 'depth': write AlphaBetaAgent(depth=...)",
    lambda: (
        agents.AlphaBetaAgent().search()
    ): "AlphaBetaAgent.search needs 'env': write AlphaBetaAgent.search(env)",
    lambda: agents.AlphaBetaAgent().search("zermelo/MKN-v0"): "did you mean 'zermelo/MNK-v0'?",
    lambda: agents.AlphaBetaAgent(evaluator=lambda game, state: "ab", depth=1).act(
        _live()
    ): "but the evaluator <lambda> (" + __file__ + ", line ",
    lambda: agents.AlphaBetaAgent(stop_test=lambda game, state, ply: None).act(
        _live()
    ): "a stop test returns True or False, but <lambda> (" + __file__ + ", line ",
    lambda: agents.PolicyAgent(policy=lambda seen: "a").act(_live()): "the policy <lambda> (" + __file__,
    lambda: agents.AlphaBetaAgent().act(None): "cannot see a game in NoneType object None",
    lambda: agents.MCTSAgent(
        selection="utc"
    ): "selection must be one of 'uct', 'puct', not 'utc': did you mean 'uct'?",
    lambda: agents.MCTSAgent(
        n_simulations=9
    ): "MCTSAgent has no setting 'n_simulations': did you mean 'simulations'?",
    lambda: agents.MCTSAgent(traits={"reward_sum": "zerosum"}): "not 'zerosum': did you mean 'zero_sum'?",
    lambda: agents.MCTSAgent(
        traits={"rewardsum": "zero_sum"}
    ): "traits has no field 'rewardsum': did you mean 'reward_sum'",
    lambda: agents.make_agent("mcts(traits={'information': 'perfct'})"): "not 'perfct': did you mean 'perfect'?",
    lambda: agents.make_agent("alphabet"): "no agent is called 'alphabet': did you mean 'alphabeta'?",
    lambda: agents.make_agent(agents.AlphaBetaAgent): "an agent is the text of one, such as 'alphabeta(depth=6)'",
    lambda: Limits(time=3): "Limits has no setting 'time': did you mean 'seconds'?",
    lambda: Limits(3): "Limits does not take 3 without a name",
    lambda: agents.solve(GAME, second=1): "solve has no setting 'second': did you mean 'seconds'?",
    lambda: agents.solve(GAME, method="alphabeta"): "not 'alphabeta': did you mean 'alpha_beta'?",
    lambda: agents.solve(3): "cannot see a game in int object 3",
    # Environments.
    lambda: envs.make("zermelo/MKN-v0"): "did you mean 'zermelo/MNK-v0'?",
    lambda: envs.make(3): "a name is text such as 'alphabeta' or 'zermelo/Kalah-v0(houses=4)', not 3",
    lambda: envs.make(): "make needs 'name': write make(name)",
    lambda: envs.make(GAME, kk=3): "zermelo/MNK-v0 takes no parameter 'kk'",
    lambda: envs.as_game(_live(), traits={"reward_sum": "zerosum"}): "not 'zerosum': did you mean 'zero_sum'?",
    lambda: envs.as_game(
        _live(), traits={"simultaneous": "no"}
    ): "traits: simultaneous must be True or False, not 'no'",
    lambda: envs.as_game(_live(), traits={"utility_bounds": 1}): "utility_bounds must be (lower, upper), not 1",
    lambda: envs.as_game(_live(), backnd="clone"): "as_game has no setting 'backnd': did you mean 'backend'?",
    lambda: envs.perft(GAME): "perft needs 'depth': write perft(game, depth)",
    lambda: envs.perft(GAME, "3"): "depth must be a whole number of at least 0, not '3'",
    lambda: envs.legal_actions(3): "cannot see a game in int object 3",
    # Evaluation.
    lambda: evaluation.round_robin(GAME): "round_robin needs 'agents': write round_robin(env, agents)",
    lambda: evaluation.round_robin(GAME, PAIR, 10): "round_robin does not take 10 without a name",
    lambda: evaluation.round_robin(
        GAME, PAIR, game=10
    ): "round_robin has no setting 'game': did you mean 'games'?",
    lambda: evaluation.round_robin(
        GAME, PAIR, n_jobs=2
    ): "round_robin has no setting 'n_jobs': did you mean 'workers'?",
    lambda: evaluation.round_robin(GAME, PAIR, games="10"): "games must be a whole number of at least 1, not '10'",
    lambda: evaluation.round_robin(GAME, PAIR, pairings="gaunlet"): "not 'gaunlet': did you mean 'gauntlet'?",
    lambda: evaluation.round_robin(GAME, PAIR, until_sure="yes"): "until_sure must be True or False, not 'yes'",
    lambda: evaluation.round_robin(
        GAME, PAIR, isolation="all"
    ): "isolation must be a value of the class AgentLimits or None",
    lambda: evaluation.round_robin(GAME, PAIR, sprt=3): "sprt must be a value of the class Sprt or None, not 3",
    lambda: evaluation.round_robin(GAME, PAIR, out=3, games=2): "out must be text or a path or None, not 3",
    lambda: evaluation.round_robin(GAME, PAIR, on_game=3, games=2): "on_game must be a function or None, not 3",
    lambda: evaluation.round_robin(GAME, "random"): "agents must be a list of agents, not 'random'",
    lambda: evaluation.round_robin(PAIR, GAME): "env must be a name such as 'classic/connect_four-v3'",
    lambda: evaluation.gauntlet(GAME, PAIR, game=1): "gauntlet has no setting 'game': did you mean 'games'?",
    lambda: evaluation.round_robin(
        GAME, PAIR, clock=60
    ): "round_robin has no setting 'clock': write isolation=AgentLimits(clock=...)",
    lambda: evaluation.gauntlet(GAME, ["random"]): "a tournament needs at least 2 agents, not 1",
    lambda: Tournament(
        GAME, ["random"]
    ): "Tournament.prepare makes one (everything that is known before the first game; round_robin plays one)",
    lambda: Tournament.prepare(GAME): "Tournament.prepare needs 'agents': write Tournament.prepare(env, agents)",
    lambda: evaluation.play_match(GAME, PAIR): "play_match needs 'seed': write play_match(env, agents, seed=...)",
    lambda: evaluation.play_match(GAME, PAIR, seed=0, opening=3): "opening must be a list, not 3",
    lambda: evaluation.evaluate_policy(
        "random"
    ): "evaluate_policy needs 'env': write evaluate_policy(policy, env)",
    lambda: evaluation.evaluate_policy(
        "random", GAME, n_games=3
    ): "has no setting 'n_games': did you mean 'games'?",
    lambda: evaluation.evaluate_policy(GAME, "random"): "the environment is 'random', which is an agent: were",
    lambda: evaluation.round_robin(agents.RandomAgent(), PAIR): "which is an agent: were environment and agent",
    lambda: evaluation.evaluate_policy(type(_live()), max): "the policy comes first, then the environment: were",
    lambda: envs.verify_clone(_live()): "a class or a function that makes one, such as lambda: ",
    lambda: evaluation.evaluate_policy("missing.zip", GAME): "there is no file 'missing.zip'",
    lambda: evaluation.RatingCurve(GAME, evry=3): "RatingCurve has no setting 'evry': did you mean 'every'?",
    lambda: Sprt(elo1="x"): "elo1 must be a number, not 'x'",
    lambda: AgentLimits(isolate="al"): "isolate must be one of 'all', 'own', 'none', not 'al'",
    lambda: evaluation.fit_ratings(3): "a list, not 3",
    lambda: evaluation.read_games(3): "folder must be text or a path, not 3",
    lambda: evaluation.draw_tree(GAME, "alphabta"): "no agent is called 'alphabta': did you mean 'alphabeta'?",
    # Training.
    lambda: training.OpponentEnv(): "OpponentEnv needs 'env': write OpponentEnv(env)",
    lambda: training.OpponentEnv("random", GAME): "the environment is 'random', which is an agent: were",
    lambda: training.OpponentEnv(GAME, "randm"): "no agent is called 'randm': did you mean 'random'?",
    lambda: training.OpponentEnv(GAME, opponents="random"): "has no setting 'opponents': did you mean 'opponent'?",
    lambda: training.OpponentEnv(GAME, illegal_reward="x"): "illegal_reward must be a number, not 'x'",
    lambda: training.make_vec(GAME, "4"): "num_envs must be a whole number of at least 1, not '4'",
    lambda: training.make_vec(GAME, 4, n_threads=2): "has no setting 'n_threads': did you mean 'threads'?",
    lambda: training.make_vec("zermelo/MKN-v0", 4): "did you mean 'zermelo/MNK-v0'?",
    lambda: training.Ladder("random", mark="x"): "mark must be a number, not 'x'",
    lambda: training.SelfPlay(3): "opponents must be one or more agents",
}


@pytest.mark.parametrize(("call", "said"), MISTAKES.items(), ids=MISTAKES.values())
def test_a_mistake_is_answered_by_a_sentence(call, said):
    with pytest.raises(ZermeloError) as caught:
        call()
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_error_of_the_users_own_function_is_left_as_it_is():
    with pytest.raises(KeyError, match="in the user's own function"):
        evaluation.round_robin(GAME, PAIR, games=2, on_game=_fails)
