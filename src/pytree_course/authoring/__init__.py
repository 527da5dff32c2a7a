"""Authors' tools: build and validate lessons, write documents, releases and the website."""

from pytree_course.built import leave_out_grammars

leave_out_grammars()  # before any module here loads nbformat
