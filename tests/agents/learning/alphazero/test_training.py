"""The network learns, goes on from checkpoints as if nothing had happened, and plays as an agent."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason='needs pip install "zermelo[torch]"')

from zermelo.agents import make_agent  # noqa: E402
from zermelo.agents.evaluators.policy_value import DenseNetwork  # noqa: E402
from zermelo.agents.learning.alphazero import AlphaZero, AlphaZeroSettings, answers_of, make_network  # noqa: E402
from zermelo.agents.learning.alphazero import network as checkpoints  # noqa: E402
from zermelo.agents.learning.alphazero.self_play import Replay, Samples, opposed_game  # noqa: E402
from zermelo.envs import InvalidSettingError, UnsupportedGameError, make  # noqa: E402
from zermelo.envs.rules.observations import observation  # noqa: E402
from zermelo.evaluation import round_robin  # noqa: E402
from zermelo.evaluation.tournament.run import make_runner  # noqa: E402

TINY = AlphaZeroSettings(
    games=6, simulations=4, channels=4, blocks=1, positions=20, batch_size=8, reuse=2.0, buffer=300, seed=3
)
MNK = "zermelo/MNK-v0"


def weights(trainer):
    return [part.clone() for part in trainer.network.state_dict().values()]


@pytest.fixture
def single_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.thorough
@pytest.mark.usefixtures("single_thread")
def test_a_restored_training_goes_on_as_if_nothing_had_happened(tmp_path):
    path = tmp_path / "checkpoint.pt"
    first = AlphaZero(MNK, TINY)
    for _ in range(2):
        first.iterate()
    first.save(path)
    first.iterate(0.3)
    second = AlphaZero(MNK, TINY)
    second.restore(path)
    assert (second.iterations, second.self_play.played > 0) == (2, True)
    second.iterate(0.3)
    assert all(torch.equal(one, other) for one, other in zip(weights(first), weights(second), strict=True))
    assert first.positions == second.positions
    assert first.self_play.asked == second.self_play.asked
    assert (first.self_play.arrays["states"] == second.self_play.arrays["states"]).all()
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.usefixtures("single_thread")
def test_actors_play_the_same_games_wherever_they_run(tmp_path):
    settings, path = replace(TINY, actors=2), tmp_path / "checkpoint.pt"
    first = AlphaZero(MNK, settings)
    for _ in range(2):
        first.iterate()
    first.save(path)
    first.iterate(0.3)
    second = AlphaZero(MNK, settings, runner=make_runner(2))
    second.restore(path)
    assert second.iterate(0.3).positions >= TINY.positions
    assert all(torch.equal(one, other) for one, other in zip(weights(first), weights(second), strict=True))
    assert first.self_play.asked == second.self_play.asked
    assert (first.replay.state()["replay_states"] == second.replay.state()["replay_states"]).all()
    with pytest.raises(InvalidSettingError, match=r"other settings \(actors\)"):
        AlphaZero(MNK, TINY).restore(path)


@pytest.mark.usefixtures("single_thread")
def test_iterations_say_what_they_did(tmp_path):
    trainer = AlphaZero(MNK, TINY)
    first, second = trainer.iterate(), trainer.iterate()
    assert (first.number, second.number) == (1, 2)
    assert first.positions >= TINY.positions
    assert first.positions + second.positions == trainer.positions
    assert first.games + second.games == trainer.self_play.played
    assert first.evaluations > first.positions
    assert np.isnan(first.policy_loss)
    assert 0 < second.policy_loss < 4
    trainer.export(tmp_path / "model.onnx")
    network = f"onnx(path='{tmp_path / 'model.onnx'}')"
    env = make(MNK)
    env.reset(seed=0)
    agent = make_agent(f'mcts(evaluator="{network}", selection=puct, simulations=20, batch_size=4)')
    assert agent.search(env).stats["simulations"] == 20
    with pytest.raises(InvalidSettingError, match="this network has convolutions: set dense=True"):
        trainer.export(tmp_path / "model.npz")


@pytest.mark.usefixtures("single_thread")
def test_dense_networks_are_played_by_compiled_searches(tmp_path):
    trainer = AlphaZero(MNK, replace(TINY, dense=True))
    trainer.iterate()
    trainer.iterate()
    seen = np.stack([observation(trainer.game.rules, trainer.game.initial_state(), 0)])
    trainer.export(tmp_path / "model.npz")
    dense = DenseNetwork(path=str(tmp_path / "model.npz"))
    ours, theirs = dense.answer(seen, seen), answers_of(trainer.network, torch.device("cpu"))(seen)
    assert all(one == pytest.approx(other, abs=1e-5) for one, other in zip(ours, theirs, strict=True))


def test_checkpoints_of_something_else_are_refused(tmp_path):
    path = tmp_path / "checkpoint.pt"
    trainer = AlphaZero(MNK, TINY)
    trainer.save(path)
    with pytest.raises(InvalidSettingError, match=r"other settings \(buffer\)"):
        AlphaZero(MNK, AlphaZeroSettings(**{**vars(TINY), "seed": 4, "buffer": 301})).restore(path)
    changed = AlphaZeroSettings(**{**vars(TINY), "simulations": 5, "random_plies": 1})
    assert AlphaZero(MNK, changed).restore(path) == ["simulations", "random_plies"]
    content = torch.load(path, weights_only=True)
    torch.save({**content, "game": "RulesGame(Chess())"}, path)
    with pytest.raises(InvalidSettingError, match="a checkpoint of RulesGame"):
        trainer.restore(path)
    torch.save({name: part for name, part in content.items() if name != "network"}, path)
    with pytest.raises(InvalidSettingError, match=r"damaged checkpoint \(KeyError\)"):
        trainer.restore(path)
    torch.save({"format": 0}, path)
    with pytest.raises(InvalidSettingError, match="no checkpoint of this version"):
        trainer.restore(path)
    path.write_bytes(b"no checkpoint")
    with pytest.raises(InvalidSettingError, match="no checkpoint that can be read"):
        trainer.restore(path)


def test_a_checkpoint_that_runs_code_is_not_read(tmp_path):
    class Hostile:
        def __reduce__(self):
            return open, (str(tmp_path / "written"), "w")

    torch.save({"format": 1, "game": Hostile()}, tmp_path / "checkpoint.pt")
    with pytest.raises(InvalidSettingError, match="no checkpoint that can be read"):
        checkpoints.read_checkpoint(tmp_path / "checkpoint.pt")
    assert not (tmp_path / "written").exists()


def test_a_disk_that_is_full_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    path = tmp_path / "checkpoint.pt"
    checkpoints.write_checkpoint(path, {"format": 1, "numbers": np.arange(3)})

    def fill(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoints.os, "fsync", fill)
    with pytest.raises(InvalidSettingError, match="No space left on device"):
        checkpoints.write_checkpoint(path, {"format": 1, "numbers": np.arange(4)})
    assert checkpoints.read_checkpoint(path)["numbers"].tolist() == [0, 1, 2]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("shape", [(3, 4, 2), (5, 64)], ids=["planes", "bits"])
def test_what_the_network_answers_quickly_is_what_it_answers(shape):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        network = make_network(shape, 7, AlphaZeroSettings(channels=4, blocks=2))
        network.train()
        network(torch.randn(16, *shape))  # normalizations with something to fold
        seen = np.random.default_rng(0).integers(0, 2, (5, *shape)).astype(np.int8)
    network.eval()
    logits, values = answers_of(network, "cpu")(seen)
    with torch.inference_mode():
        exact = network(torch.from_numpy(seen).float())
    assert logits.shape == (5, 7)
    assert logits == pytest.approx(exact[0].numpy(), abs=1e-5)
    assert values == pytest.approx(exact[1].numpy(), abs=1e-5)
    assert (np.abs(values) <= 1).all()


def test_lessons_are_positions_seen_through_symmetries():
    game = opposed_game(MNK)
    rules, replay = game.rules, Replay(game, 4, value_mix=0.25)
    states = [game.initial_state()]
    for action in (0, 3, 4, 1, 8):
        states.append(game.result(states[-1], action))
    policies = np.random.default_rng(0).random((6, 9)).astype(np.float32)
    for number, state in enumerate(states):
        actions, outcome = np.full((1, 9), -1, np.int32), np.array([number / 10], np.float32)
        legal = game.legal_actions(state)
        actions[0, : len(legal)] = legal
        replay.add(Samples(np.array([state]), actions, policies[[number]], outcome, outcome + 1))
    assert (len(replay), replay.added) == (4, 6)
    lesson = replay.lesson(np.array([0, 0, 3]), np.array([0, 5, 3]))  # the fifth sample's place, and the fourth's
    for row, (number, symmetry) in enumerate([(4, 0), (4, 5), (3, 3)]):
        seen = rules.symmetric_state(states[number], symmetry)
        assert (lesson.observations[row] == observation(rules, seen, game.to_move(seen))).all()
        shares = dict(zip(game.legal_actions(states[number]), policies[number].tolist(), strict=False))
        moved = {rules.symmetric_action(action, symmetry): share for action, share in shares.items()}
        assert lesson.policies[row].tolist() == pytest.approx([moved.get(action, -1.0) for action in range(9)])
        assert lesson.values[row] == pytest.approx(number / 10 + 0.25)
    assert len(replay.draw(5, np.random.default_rng(0)).values) == 5


@pytest.mark.parametrize(
    ("name", "value"),
    [("games", 0), ("value_mix", 1.5), ("solver", "yes"), ("learning_rate", -1.0), ("seed", 1.5)],
)
def test_settings_are_checked(name, value):
    with pytest.raises(InvalidSettingError, match=name):
        AlphaZeroSettings(**{name: value})


def test_devices_and_files_that_are_not_there_are_named(tmp_path):
    with pytest.raises(InvalidSettingError, match="device 'abacus' cannot be used here"):
        AlphaZero(MNK, TINY, device="abacus")
    with pytest.raises(UnsupportedGameError, match="not one of two opposed players"):
        AlphaZero("zermelo/MNK-v0(players=3)", TINY)
    trainer = AlphaZero(MNK, TINY)
    with pytest.raises(InvalidSettingError, match="cannot write the checkpoint"):
        trainer.save(tmp_path / "nowhere" / "checkpoint.pt")
    with pytest.raises(InvalidSettingError, match=r"cannot write .*model.onnx"):
        trainer.export(tmp_path / "nowhere" / "model.onnx")
    with pytest.raises(InvalidSettingError, match="progress must be a finite number"):
        trainer.iterate("half")


@pytest.mark.slow
@pytest.mark.usefixtures("single_thread")
def test_tic_tac_toe_is_learned_in_seconds(tmp_path):
    settings = AlphaZeroSettings(games=64, simulations=16, channels=16, blocks=2, positions=1_000, seed=1)
    trainer = AlphaZero(MNK, settings)
    for number in range(12):
        last = trainer.iterate(number / 12)
    assert last.value_loss < 0.25
    trainer.export(tmp_path / "model.onnx")
    agent = f"onnx(path='{tmp_path / 'model.onnx'}')"
    table = round_robin(MNK, [agent, "random"], games=100, seed=1)
    assert table.row(agent).score > 0.9
