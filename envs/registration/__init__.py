"""Environments by name."""

from zermelo.envs.registration.registry import register_with_imported

register_with_imported()
