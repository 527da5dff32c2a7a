"""Mutation testing of the checks: a tool for authors, which is not installed for learners."""
