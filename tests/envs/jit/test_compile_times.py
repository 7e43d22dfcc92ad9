"""How long compiling takes here, as the last kernels took."""

import pytest

from zermelo.envs.jit.cache.store import add_compile_time, compile_time
from zermelo.envs.support.files import cache_root, write_checked


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ZERMELO_CACHE_DIR", str(tmp_path))


def test_the_median_of_the_last_kernels_is_said():
    assert compile_time() == "some 2 to 20 s"
    cache_root().mkdir(parents=True)
    for seconds in (100.0, *[4.2] * 5, *[7.9] * 4):
        add_compile_time(seconds)
    assert compile_time() == "about 4 s"


@pytest.mark.parametrize(
    "text", ["", "{", '["9"]', "[NaN]", "[1e999]", "[-1.0]", "9.0", "[" * 3000, "[3.0]" + " " * 9999, "[1.0, {}]"]
)
@pytest.mark.parametrize("is_checked", [True, False])
def test_a_damaged_file_counts_as_missing(text, is_checked):
    cache_root().mkdir(parents=True)
    add_compile_time(100.0)
    (file,) = cache_root().iterdir()
    write_checked(file, text.encode()) if is_checked else file.write_text(text)
    assert compile_time() == "some 2 to 20 s"
    add_compile_time(5.0)
    assert compile_time() == "about 5 s"


def test_without_a_folder_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("ZERMELO_CACHE_DIR", str(tmp_path / "none" / "there"))
    add_compile_time(5.0)
    assert compile_time() == "some 2 to 20 s"
