"""Puts the learners' bundle into the wheel, so that `pytree-course lab` can unpack it anywhere."""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BundleHook(BuildHookInterface):
    """Adds the files that `release` would write, but for the code, which a wheel has anyway."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add them, unless the course is installed from this folder: then they stay here."""
        if version == "editable":
            return
        sys.path.insert(0, str(Path(self.root, "src")))
        from pytree_course.bundle import CODE, bundle_files
        from pytree_course.course import Course

        for name, file in bundle_files(Course(Path(self.root))).items():
            if not name.startswith(CODE):
                build_data["force_include"][str(file)] = f"pytree_course/bundle/{name}"
