"""`python -m pytree_course` is what `course.py` runs in the course's environment."""

from pytree_course.cli.main import main

main()
