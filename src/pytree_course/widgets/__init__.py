"""Things to play with: each one line in a notebook, each with a static form for a page."""
