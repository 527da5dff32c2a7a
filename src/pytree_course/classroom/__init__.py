"""Grading many notebooks into a gradebook."""
