"""A learner's progress: solved exercises, next steps, and questions for review."""
