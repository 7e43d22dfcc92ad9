"""What holds for every test."""

import signal


def pytest_configure() -> None:
    """Lets Ctrl-C be pressed in tests that are run in the background, where a shell has SIGINT ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
