"""The author's sources: read lessons, exercises and answers, and run the author's answers."""
