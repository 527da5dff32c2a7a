"""Write the learners' bundle; refuse if a file is stale or a learner's work would be lost."""

from pathlib import Path

from pytree_course.authoring.building import find_stale
from pytree_course.authoring.colab import for_colab
from pytree_course.bundle import bundle, write_bundle
from pytree_course.course import Course, CourseError


def release(course: Course, folder: Path, colab: str | None = None) -> None:
    """Write the learners' bundle.

    Parameters
    ----------
    course
        The author's copy of the course.
    folder
        A new folder, an empty one, or that of an earlier release in which no learner has worked.
    colab
        The repository on GitHub that the bundle will be pushed to, for it to have notebooks for
        Colab too.
    """
    folder = folder.resolve()
    _refuse_to_lose(folder)
    _refuse_stale(course)
    contents = bundle(course)
    if colab is not None:
        contents |= for_colab(contents, colab)
    write_bundle(folder, contents)


def _refuse_stale(course: Course) -> None:
    lessons = course.with_sources()
    if not lessons:
        raise CourseError("This copy of the course has no sources: release it from one that has.")
    stale = [found for files in lessons for found in find_stale(files)]
    # The notebooks in the folder `exercises` are not released.
    lines = [str(found) for found in stale if found.file.parent != course.root / "exercises"]
    if lines:
        lines.insert(0, "Nothing was released, for some of it is out of date:")
        raise CourseError("\n".join(lines))


def _refuse_to_lose(folder: Path) -> None:
    """Refuse to replace what no release wrote, or what a learner has worked in."""
    if not folder.exists() or (
        folder.is_dir() and all(each.name.startswith(".git") for each in folder.iterdir())
    ):
        return
    earlier = Course(folder)
    if not earlier.lessons() or (folder / "sources").exists():
        raise CourseError(
            f"{folder} is there and is no earlier release: name a new folder, or an empty one."
        )
    handed_out = {files.exercises: files.read_blank().encode() for files in earlier.lessons()}
    for notebook in (folder / "exercises").glob("*.ipynb"):
        if notebook.read_bytes() != handed_out.get(notebook):
            raise CourseError(f"Somebody has worked in {notebook}: name another folder.")
    if (folder / "progress.jsonl").exists():
        raise CourseError(f"Somebody has worked in {folder}: name another folder.")
