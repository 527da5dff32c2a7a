"""Judge an answer: compare its outcomes with the expected ones, explain a failure in words."""
