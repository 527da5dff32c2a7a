"""`python -m pytree_course` is what `course.py` runs in the course's environment."""

import sys

from pytree_course.cli import app
from pytree_course.layout import CourseFileError

try:
    app(prog_name="course.py")
except CourseFileError as missing:
    sys.exit(str(missing))
