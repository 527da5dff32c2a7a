"""Notebooks for Google Colab: they install the course, and link to each other on Colab."""

import json
import re
from dataclasses import dataclass

from pytree_course.authoring.notebooks import INSTALLED_ID
from pytree_course.course import LINKS_VARIABLE, PROGRESS_VARIABLE, CourseError
from pytree_course.rendering import render

LINK = re.compile(
    r'(?P<before>\]\(|href=\\")(\.\./(?P<folder>\w+)/)?(?P<file>\w+\.ipynb)(#[^)"\\]*)?'
)
"""A link between notebooks, in a notebook's JSON: in Markdown, and in HTML."""


@dataclass(frozen=True)
class Repository:
    """A public repository on GitHub, and a branch of it."""

    name: str  # OWNER/REPO
    branch: str

    @classmethod
    def named(cls, text: str) -> "Repository":
        """Read OWNER/REPO or OWNER/REPO@BRANCH."""
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]*/[\w.-]+(@\w[\w./-]*)?", text, re.ASCII):
            raise CourseError(
                f"{text!r} names no repository on GitHub: write OWNER/REPO, such as ada/pytrees, "
                "or OWNER/REPO@BRANCH."
            )
        name, _, branch = text.partition("@")
        return cls(name, branch or "main")

    @property
    def package(self) -> str:
        """What pip installs the course from."""
        return f"git+https://github.com/{self.name}@{self.branch}"

    @property
    def address(self) -> str:
        """Where Colab opens the notebooks."""
        return f"https://colab.research.google.com/github/{self.name}/blob/{self.branch}/colab"


def for_colab(bundle: dict[str, bytes], repository: Repository) -> dict[str, bytes]:
    """Return what a bundle has to have besides: the folder `colab`, and links in the README."""
    notebooks = {
        name: _for_colab(name.split("/")[0], content.decode(), repository).encode()
        for name, content in bundle.items()
        if re.fullmatch(r"(notebooks|exercises)/\w+\.ipynb", name)
    }
    readme = bundle["README.md"].decode().rstrip("\n")
    readme += "\n\n## On Colab\n\nNothing to install, for a Google account:\n\n"
    readme += "".join(f"- [{name}]({repository.address}/{name})\n" for name in sorted(notebooks))
    colab = {f"colab/{name}": content for name, content in notebooks.items()}
    return {"README.md": readme.encode(), **colab}


def _for_colab(folder: str, text: str, repository: Repository) -> str:
    """Let a notebook, in one of the bundle's folders, install the course, and link to Colab."""
    linked = LINK.sub(
        lambda link: (
            f"{link['before']}{repository.address}/{link['folder'] or folder}/{link['file']}"
        ),
        text,
    )
    notebook = json.loads(linked)
    for cell in notebook["cells"]:
        cell["metadata"]["id"] = cell["id"]  # where Colab keeps it, and grading finds it
    cell = next(cell for cell in notebook["cells"] if cell["id"] == INSTALLED_ID)
    del cell["metadata"]["jupyter"]  # here, there is a line to change in it
    code = render(
        "authoring/install_on_colab.txt",
        repository=repository,
        progress_variable=PROGRESS_VARIABLE,
        links_variable=LINKS_VARIABLE,
    )
    cell["source"] = code.splitlines(keepends=True)
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
