"""Grading one notebook: its answers run in a kernel, judged outside of it."""
