"""Grading: a learner's answers, run by nbval in a kernel of their own, judged outside of it."""

from pytree_course.grading.command import main

__all__ = ["main"]
