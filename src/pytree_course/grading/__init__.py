"""Grade one notebook: run its answers in a kernel, and judge them outside of it."""

from pytree_course.built import leave_out_grammars

leave_out_grammars()  # before any module here loads nbformat
