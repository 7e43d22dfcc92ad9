"""The command that installs an extra keeps what is there: a clone stays a clone."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from zermelo.envs.support import installing
from zermelo.envs.support.installing import install_command

REQUIRES = [
    "numpy>=2.0",
    'torch>=2.3; extra == "torch"',
    "onnx>=1.16 ; extra == 'torch'",
    'onnxruntime>=1.17; extra == "onnx"',
]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "my clone"
    (folder / "scripts").mkdir(parents=True)
    (folder / "pyproject.toml").touch()
    (folder / "scripts" / "setup").touch()
    return folder


def installed(monkeypatch: pytest.MonkeyPatch, origin: Any) -> None:
    """As if the package had been installed from there, with the metadata that a clone has beside it."""
    text = None if origin is None else json.dumps(origin)
    beside = SimpleNamespace(read_text=lambda name: None, requires=REQUIRES)
    monkeypatch.setattr(
        installing,
        "distributions",
        lambda name: [beside, SimpleNamespace(read_text=lambda name: text, requires=REQUIRES)],
    )


def test_a_clone_s_own_environment_is_set_up_by_its_script(monkeypatch: pytest.MonkeyPatch, clone: Path) -> None:
    installed(monkeypatch, {"url": clone.as_uri(), "dir_info": {"editable": True}})
    monkeypatch.setattr(sys, "prefix", str(clone / ".venv"))
    assert install_command("torch") == f"'{clone}/scripts/setup' torch"
    monkeypatch.chdir(clone)
    assert install_command("torch") == "scripts/setup torch"


def test_a_clone_in_another_environment_stays_editable(monkeypatch: pytest.MonkeyPatch, clone: Path) -> None:
    installed(monkeypatch, {"url": clone.as_uri(), "dir_info": {"editable": True}})
    assert install_command("torch") == f'pip install -e "{clone}[torch]"'
    monkeypatch.chdir(clone)
    assert install_command("torch") == 'pip install -e ".[torch]"'


def test_a_copy_of_a_folder_is_installed_from_there_again(monkeypatch: pytest.MonkeyPatch, clone: Path) -> None:
    installed(monkeypatch, {"url": clone.as_uri(), "dir_info": {}})
    assert install_command("torch") == f'pip install "{clone}[torch]"'


@pytest.mark.parametrize(
    "origin",
    [
        None,
        {"url": "https://example.org/zermelo.whl", "archive_info": {}},
        {"url": "file:///a/folder/that/is/gone", "dir_info": {"editable": True}},
    ],
)
def test_without_a_folder_the_packages_themselves_are_named(monkeypatch: pytest.MonkeyPatch, origin: Any) -> None:
    installed(monkeypatch, origin)
    assert install_command("torch") == 'pip install "torch>=2.3" "onnx>=1.16"'


def test_a_current_folder_that_is_gone_does_not_matter(
    monkeypatch: pytest.MonkeyPatch, clone: Path, tmp_path: Path
) -> None:
    installed(monkeypatch, {"url": clone.as_uri(), "dir_info": {"editable": True}})
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert install_command("torch") == f'pip install -e "{clone}[torch]"'
