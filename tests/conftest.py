"""What holds for every test, and how tests share the processors when pytest-xdist runs them side by side.

``scripts/test`` runs a process for each processor. The tests of a file stay together, in one process and in their
order: they share fixtures and compiled rules. Tests that watch a clock, memory, processes or signals are marked
``alone``: they come last, and while one runs the other processes begin no test. For that each test holds a lock on
a file, shared by all or, of a test marked ``alone``, by nobody. Without xdist none of this matters. (Groups of
xdist's own, ``--dist loadgroup``, do nothing with pytest 9.2: xdist 3.8 writes them where it does not look.)
"""

import contextlib
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings


def pytest_configure() -> None:
    """Fails no test for being slow, and lets Ctrl-C be pressed where a shell in the background ignores SIGINT."""
    settings.register_profile("tests", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("tests")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def _registered():
    """Has PettingZoo and Gymnasium know our environments, whatever test file was imported first."""
    from zermelo.envs import register_envs

    register_envs()


@pytest.fixture(autouse=True, scope="session")
def _own_findings(tmp_path_factory):
    """Has every run find out anew what environments are."""
    from zermelo.envs.traits import origin

    folder = tmp_path_factory.mktemp("findings")
    origin.cache_root = lambda: folder


@pytest.fixture(autouse=True)
def _nothing_said():
    """Has every test be warned of what another one was warned of."""
    from zermelo.envs.errors import forget_warnings

    forget_warnings()


@pytest.fixture
def seen_by_nobody(tmp_path, monkeypatch):
    """Has a test be the first one to see its environments."""
    from zermelo.envs.traits import findings, origin

    monkeypatch.setattr(origin, "cache_root", lambda: tmp_path)
    findings.clear_memory()


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by marks
def pytest_collection_modifyitems(items):
    """Orders tests.

    Files with tests marked ``alone`` come last, and those tests last in them; long files of few tests first.
    """
    with_alone = {item.path for item in items if _is_alone(item)}
    files = {path: number for number, path in enumerate(dict.fromkeys(item.path for item in items))}
    items.sort(
        key=lambda item: (
            item.path in with_alone,
            item.path.parent != Path(__file__).parent,  # those of the documentation run its examples
            files[item.path],
            _is_alone(item),
        )
    )


def _is_alone(item):
    return item.get_closest_marker("alone") is not None


@pytest.hookimpl(wrapper=True, tryfirst=True)  # outside pytest-timeout: to wait for one's turn costs no time
def pytest_runtest_protocol(item):
    """Has a test marked ``alone`` wait until no other runs, and the others meanwhile."""
    if not hasattr(item.config, "workerinput"):
        return (yield)
    folder = item.config._tmp_path_factory.getbasetemp().parent  # the same for all of xdist's processes
    with _turn(folder, alone=_is_alone(item)):
        return (yield)


@contextlib.contextmanager
def _turn(folder, alone):
    import fcntl

    with open(folder / "next", "w") as following, open(folder / "running", "w") as running:
        # Who waits to be alone holds this one, so that nobody else begins and its turn comes.
        fcntl.flock(following, fcntl.LOCK_EX)
        fcntl.flock(running, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        if not alone:
            fcntl.flock(following, fcntl.LOCK_UN)
        try:
            yield
        finally:  # by hand: a child process that outlives the test may have the files open too
            fcntl.flock(running, fcntl.LOCK_UN)
            fcntl.flock(following, fcntl.LOCK_UN)
