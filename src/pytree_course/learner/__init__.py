"""A learner's progress: what was solved, what comes next, and what to ask again."""
