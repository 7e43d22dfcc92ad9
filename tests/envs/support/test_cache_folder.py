from __future__ import annotations

import pytest

from zermelo.envs.errors import InvalidSettingError
from zermelo.envs.support import files


@pytest.mark.parametrize("name", ["ZERMELO_CACHE_DIR", "NUMBA_CACHE_DIR"])
def test_cache_folder_of_an_unknown_user_is_refused_by_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ZERMELO_CACHE_DIR", raising=False)
    monkeypatch.setenv(name, "~nosuchuser/cache")
    with pytest.raises(InvalidSettingError, match=r"'~nosuchuser/cache'.* set ZERMELO_CACHE_DIR to a full path"):
        files.cache_root()
