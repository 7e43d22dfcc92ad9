"""What tests of pages share."""

import pytest
from doubles.browsers import chromium


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started
