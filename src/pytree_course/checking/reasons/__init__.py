"""General reasons for a wrong answer, where no misconception explains it."""
