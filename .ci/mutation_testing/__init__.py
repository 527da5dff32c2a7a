"""Mutation testing of the checks: a tool for authors, not installed for learners."""
