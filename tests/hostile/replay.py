"""The replay: an answer cell that knows the public results, and reports the most similar ones.

It is the strongest forger that has no answer: it takes the place of the check itself, draws the
fresh cases as the check does, and gives for each the public result whose case is most alike. The
public results are in every learner's copy; the seed is in the kernel's environment.
"""

import base64
import json
import zlib

from pytree_course.judging.expected import BuiltLesson
from tests.conftest import ROOT

_REPLAY = '''
import base64, json, zlib
from functools import partial
import msgspec
import numpy as np
import pytree_course.notebook.checks as checks
from pytree_course.running.outcomes import Outcome
from pytree_course.observing.observe import observe

PUBLIC = json.loads(zlib.decompress(base64.b64decode("{public}")))

class Anything:
    """Whatever a check asks of an answer while it draws its cases, it gets."""
    def __call__(self, *inputs, **named): return self
    def __getattr__(self, name):
        if name.startswith("__"): raise AttributeError(name)
        return self
    def __iter__(self): return iter(())
    def __getitem__(self, key): return self

def name_of(function):
    while isinstance(function, partial):
        function = function.func
    return getattr(function, "__qualname__", type(function).__qualname__)

def parts(seen, path=()):
    if isinstance(seen, dict):
        seen = list(seen.items())
    if not isinstance(seen, (list, tuple)):
        return {(*path, seen)}
    return {part for at, each in enumerate(seen) for part in parts(each, (*path, at))}

def drawn(check, answers, seed):
    found = []
    for case in check(*answers, rng=np.random.default_rng(seed)):
        inputs = msgspec.to_builtins([observe(each) for each in case.inputs])
        found.append((case, inputs, parts(inputs)))
    return found

def alike(known, case, seen):
    (other, _, other_seen), _ = known
    common = len(seen & other_seen) / max(len(seen | other_seen), 1)
    said = case.note == other.note, case.mentions == other.mentions
    return name_of(case.call) == name_of(other.call), *said, common

def replay(check, answers, seed):
    public = list(zip(drawn(check, answers, 0), PUBLIC[check.__name__]))
    report = []
    for case, inputs, seen in drawn(check, answers, seed):
        by_heart = max(public, key=lambda known: alike(known, case, seen))[1]
        if by_heart[0] == "raised":
            by_heart = [*by_heart[:3], {text: True for text in case.mentions}, *by_heart[4:]]
        written = tuple(repr(each)[:200] for each in case.inputs)
        report.append(Outcome(inputs, written, by_heart, note=case.note))
    return report

checks.run_check = replay
'''


def replay_answers(lesson: str, *wanted: str) -> dict[str, str]:
    """Return the answers of a forger who has none, to these exercises of a lesson, or to all."""
    folder = ROOT / "checks" / "expected"
    graded = BuiltLesson.read(folder / f"{lesson}.json").graded
    exercises = {name: graded[name] for name in wanted or graded}
    public = {
        name: json.loads((folder / lesson / f"{name}.json").read_text("utf-8"))["observations"]
        for name in exercises
    }
    packed = base64.b64encode(zlib.compress(json.dumps(public).encode())).decode()
    code = _REPLAY.replace("{public}", packed)
    answers = {name: " = ".join(each.answers) + " = Anything()" for name, each in exercises.items()}
    first = next(iter(answers))
    return answers | {first: code + answers[first]}
