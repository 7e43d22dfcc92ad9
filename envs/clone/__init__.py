"""Independent copies of live environments, and proofs that they are right."""

import zermelo.envs.clone.own_clone  # noqa: F401  # it has the copier try an environment's own way of copying
