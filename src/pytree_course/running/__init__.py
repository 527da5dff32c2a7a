"""Run the cases of a check on an answer."""
