"""Release the learners' bundle, with notebooks for Colab on request."""

import json
import posixpath
import re
from pathlib import Path

from pytree_course.authoring.building import find_stale
from pytree_course.authoring.notebooks import INSTALLED_ID
from pytree_course.course import LINKS_VARIABLE, PROGRESS_VARIABLE, Course, CourseError
from pytree_course.released_files import read_bundle, write_bundle
from pytree_course.rendering import render

NOTEBOOK_LINK = re.compile(r'(?P<before>\]\(|href=\\")(?P<path>[\w./-]+\.ipynb)(#[^)"\\]*)?')
"""A link between notebooks, in Markdown or in HTML inside a notebook's JSON."""

REPOSITORY = re.compile(r"([a-z0-9][a-z0-9-]*/[\w.-]+)(?:@(\w[\w./-]*))?", re.ASCII | re.IGNORECASE)


def release(course: Course, folder: Path, colab: str | None = None) -> None:
    """Write the learners' bundle from the author's copy of the course.

    The folder must be new, empty, or an earlier release without a learner's work. With `colab`, the
    repository on GitHub that the bundle will be pushed to, it contains notebooks for Colab.
    """
    folder = folder.resolve()
    _refuse_to_lose(folder)
    lessons = course.lessons_and_pages()
    if not lessons:
        raise CourseError("This copy of the course has no sources: release it from one that has.")
    stale = [
        str(stale_file)
        for files in lessons
        for stale_file in find_stale(files)
        if stale_file.file != files.exercises  # the author's own copy, which is not released
    ]
    if stale:
        heading = "Nothing was released, because some files are out of date:"
        raise CourseError("\n".join([heading, *stale]))
    contents = read_bundle(course)
    if colab is not None:
        contents |= for_colab(contents, colab)
    write_bundle(folder, contents)


def _refuse_to_lose(folder: Path) -> None:
    """Refuse to replace a folder that is not a release, or that contains a learner's work."""
    if not folder.exists():
        return
    if folder.is_dir() and all(entry.name.startswith(".git") for entry in folder.iterdir()):
        return
    earlier = Course(folder)
    if not earlier.lessons() or (folder / "sources").exists():
        raise CourseError(f"{folder} is neither empty nor an earlier release: name another folder.")
    handed_out = {files.exercises: files.read_blank().encode() for files in earlier.lessons()}
    for notebook in (folder / "exercises").glob("*.ipynb"):
        if notebook.read_bytes() != handed_out.get(notebook):
            raise CourseError(f"Somebody has worked in {notebook}: name another folder.")
    if (folder / "progress.jsonl").exists():
        raise CourseError(f"Somebody has worked in {folder}: name another folder.")


def for_colab(bundle: dict[str, bytes], repository: str) -> dict[str, bytes]:
    """Return additions to a bundle: the folder `colab`, and a README with links to it.

    The bundle will be on GitHub, in the `repository` OWNER/REPO or OWNER/REPO@BRANCH.
    """
    match = REPOSITORY.fullmatch(repository)
    if match is None:
        raise CourseError(
            f"{repository!r} is not a repository on GitHub: write OWNER/REPO, such as ada/pytrees, "
            "or OWNER/REPO@BRANCH."
        )
    repository, branch = match[1], match[2] or "main"
    address = f"https://colab.research.google.com/github/{repository}/blob/{branch}/colab"
    install = render(
        "authoring/install_on_colab.txt",
        package=f"git+https://github.com/{repository}@{branch}",
        address=address,
        progress_variable=PROGRESS_VARIABLE,
        links_variable=LINKS_VARIABLE,
    )
    notebooks = {
        name: _colab_notebook(name, content.decode(), address, install).encode()
        for name, content in bundle.items()
        if re.fullmatch(r"(notebooks|exercises)/.+\.ipynb", name)
    }
    readme = bundle["README.md"].decode().rstrip("\n")
    readme += "\n\n## On Colab\n\nNothing to install, for a Google account:\n\n"
    readme += "".join(f"- [{name}]({address}/{name})\n" for name in sorted(notebooks))
    colab = {f"colab/{name}": content for name, content in notebooks.items()}
    return {"README.md": readme.encode(), **colab}


def _colab_notebook(name: str, text: str, address: str, install: str) -> str:
    """Adapt a notebook of the bundle: its first cell installs the course, links lead to Colab."""

    def on_colab(link: re.Match[str]) -> str:
        place = posixpath.normpath(posixpath.join(posixpath.dirname(name), link["path"]))
        return f"{link['before']}{address}/{place}"

    linked = NOTEBOOK_LINK.sub(on_colab, text)
    notebook = json.loads(linked)
    for cell in notebook["cells"]:
        cell["metadata"]["id"] = cell["id"]  # where Colab keeps ids, and grading looks for them
        if cell["id"] == INSTALLED_ID:
            del cell["metadata"]["jupyter"]  # not folded: it has a line to edit
            cell["source"] = install.splitlines(keepends=True)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
