"""Grading one notebook: its answers run in a kernel, judged outside of it."""

from pytree_course.built import leave_out_grammars

leave_out_grammars()  # before any module here loads nbformat
