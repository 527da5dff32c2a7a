"""Secrets of a teacher: each lies where no answer may reach, and is looked for in all outputs."""

import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

MARK = "PTC-SECRET-"
"""What every secret begins with; attacks look for it, and do not know how it goes on."""

VICTIM = "p-victim"
"""The student whose work is not to be read by others."""

PLACES = ("environment", "home", "keyring", "solutions", "sources", "submission", "grades")

# Puts a secret into the keyring of this session, as a password manager does, and grades.
WITH_KEYRING = """
import ctypes, os, sys
from ctypes import CDLL, c_char_p, c_int, c_size_t
secret = os.environ.pop("SECRET_FOR_KEYRING").encode()
libc = CDLL(None)
numbers = {"x86_64": (248, 250), "aarch64": (217, 219)}
add_key, keyctl = numbers.get(os.uname().machine, (None, None))
if add_key is not None:
    libc.syscall(keyctl, 1, c_char_p(b"pytree-course-corpus"))  # join a session keyring of its own
    libc.syscall(add_key, c_char_p(b"user"), c_char_p(b"password"), c_char_p(secret),
                 c_size_t(len(secret)), c_int(-3))
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


@dataclass(frozen=True)
class Secrets:
    """A secret for each place."""

    by_place: dict[str, str] = field(
        default_factory=lambda: {place: MARK + secrets.token_hex(12) for place in PLACES}
    )

    def __getitem__(self, place: str) -> str:
        return self.by_place[place]

    def lay_out(self, course: Path, home: Path, into: Path) -> dict[str, str]:
        """Put the secrets into their places; return the variables to grade with."""
        for folder in (home / ".ssh", into):
            folder.mkdir(parents=True)
        (home / ".ssh" / "id_ed25519").write_text(self["home"])
        (into / "notes.txt").write_text(self["grades"])
        (course / "sources" / "notes.txt").write_text(self["sources"])
        for file in (course / "solutions").glob("*.ipynb"):
            notebook = json.loads(file.read_text(encoding="utf-8"))
            notebook["cells"][0]["source"] = self["solutions"]
            file.write_text(json.dumps(notebook), encoding="utf-8")
        return {
            "HOME": str(home),
            "TEACHERS_TOKEN": self["environment"],
            "SECRET_FOR_KEYRING": self["keyring"],
        }

    def in_texts(self, texts: dict[str, str]) -> Iterator[str]:
        """Yield what secret is in which of these texts."""
        for name, text in texts.items():
            for place, secret in self.by_place.items():
                if secret in text:
                    yield f"the secret of {place} is in {name}"
