"""Every kernel of this environment loads the course's extension.

With it a check that is run too early says which cell to run first, even before
the course has been imported. `append` leaves a learner's own extensions alone.
"""

from importlib.util import find_spec

if find_spec("pytree_course"):
    c.IPKernelApp.extensions.append("pytree_course.ipython")  # type: ignore[name-defined]  # noqa: F821
