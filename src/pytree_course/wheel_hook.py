"""A build hook that puts the learners' bundle into the wheel, for `pytree-course lab` to unpack."""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BundleHook(BuildHookInterface[Any]):
    """Add the bundle's files to a wheel, except the code, which a wheel contains anyway."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files, unless this is an editable installation, which reads them from here."""
        if version == "editable":
            return
        sys.path.insert(0, str(Path(self.root, "src")))
        from pytree_course.course import Course
        from pytree_course.released_files import CODE, find_bundle_files

        for name, file in find_bundle_files(Course(Path(self.root))).items():
            if not name.startswith(CODE):
                build_data["force_include"][str(file)] = f"pytree_course/bundle/{name}"
