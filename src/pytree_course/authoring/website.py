"""Write the course's website: Sphinx makes it of built notebooks and documents."""

import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from pytree_course.authoring.colab import Repository
from pytree_course.authoring.web_pages import web_pages
from pytree_course.bundle import bundle
from pytree_course.course import Course, CourseError

LEARNERS_BRANCH = "learners"
"""The branch that holds the learners' bundle, from which Binder and Colab run the notebooks."""


def write_site(course: Course, folder: Path) -> None:
    """Write the site into a folder: a new one, an empty one, or that of an earlier site."""
    settings = course.root / "docs" / "site"
    if not settings.is_dir():
        raise CourseError("This copy of the course has no docs/site, which says what it looks like.")
    if folder.exists() and any(folder.iterdir()) and not (folder / "objects.inv").exists():
        raise CourseError(f"{folder} is no earlier site: name a new folder, or an empty one.")
    project = tomllib.loads((course.root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    addresses = project.get("urls", {})
    repository = None
    options = [f"--define=html_baseurl={addresses.get('Homepage', '')}"]
    if "Repository" in addresses:
        name = addresses["Repository"].removeprefix("https://github.com/")
        repository, learners = Repository(name, "main"), Repository(name, LEARNERS_BRANCH)
        options += [f"--html-define=binder={learners.on_binder}"]
        options += [f"--html-define=colab={learners.address}"]
    pages = web_pages(course, repository)
    with tempfile.TemporaryDirectory() as sources, tempfile.TemporaryDirectory() as made:
        for name, content in pages.items():
            file = Path(sources, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        # Sphinx has an environment of its own, which no learner installs.
        run = [sys.executable, "-m", "uv", "--quiet", "tool", "run", "--python", sys.executable]
        run += ["--with-requirements", str(settings / "requirements.txt"), "--from", "sphinx"]
        build = ["sphinx-build", "--quiet", "--fail-on-warning", "--conf-dir", str(settings)]
        if subprocess.run([*run, *build, *options, sources, made], check=False).returncode != 0:
            raise CourseError("Sphinx did not build the site; above, it says why.")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(made, folder, ignore=shutil.ignore_patterns(".buildinfo", ".doctrees"))
    for name, content in bundle(course).items():
        if name in pages and name.endswith(".ipynb"):
            (folder / name).write_bytes(content)  # as learners get it, to be downloaded
