"""Grade a class: find its submissions, run them in parallel, and keep a gradebook."""
