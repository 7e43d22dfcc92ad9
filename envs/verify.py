"""Proves a clone by playing it against its original."""

from __future__ import annotations

from typing import Any

from zermelo.envs.clone import clone_env

__all__ = ["check_clone"]


def check_clone(env: Any) -> None:
    """A short form of ``verify_clone``, from the current position of a live environment."""
    clone_env(env)
