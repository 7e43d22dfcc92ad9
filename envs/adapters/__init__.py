"""Live environments as games: one module an ecosystem."""

import zermelo.envs.adapters.rules  # noqa: F401  # it registers the rules that are known for environments
