"""The tests; they start with the course's configuration of JAX, before anything imports it."""

from pytree_course.jax_configuration import drop_shells_settings

drop_shells_settings()
