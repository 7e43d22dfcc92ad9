"""Environments by name."""

import zermelo.envs.registration.own_games  # noqa: F401  # it registers them
