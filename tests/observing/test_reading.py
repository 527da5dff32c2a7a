"""What comes from outside is read up to its limits, and nothing beyond them."""

import msgspec
import pytest

from pytree_course.observing import observations as obs
from pytree_course.observing.reading import Count, Moment, Points, read_json


def observed(depth, leaf='["none"]'):
    return '["node","list",null,false,false,[["[0]",' * depth + leaf + "]]]" * depth


def wide(count):
    children = ",".join(['["[0]",["none"]]'] * (count - 1))
    return f'["node","list",null,false,false,[{children}]]'


def array(elements):
    return f'["array","jax","int32",[],{[0] * elements}]'


def two_arrays(elements):
    return observed(1, f'{array(elements)}],["[1]",{array(1)}')


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (obs.Observation, observed(102), observed(103)),
        (obs.Observation, wide(obs.MAX_NODES), wide(obs.MAX_NODES + 1)),
        (obs.Observation, array(obs.MAX_ELEMENTS), two_arrays(obs.MAX_ELEMENTS)),
        (obs.Observation, f'["number","int",{2**4096 - 1}]', f'["number","int",{2**4096}]'),
        (obs.Observation, '["number","float","nan"]', '["number","float",NaN]'),
        (obs.Observation, r'["string","str","\n"]', r'["string","str","\u0000"]'),
        (obs.Observation, '["none"]', "[" * 100_000),
        (list[obs.Observation], f"[{wide(20_000)},{wide(20_000)}]", "{}"),
        (dict[str, str], r'{"a":"\u0000"}', '{"a":1}'),
        (Count, "9007199254740991", "9007199254740992"),
        (Count, "0", "-1"),
        (Points, "1.5", "1.25"),
        (Moment, '"1970-01-01T00:00:00Z"', '"1969-12-31T23:59:00Z"'),
        (Moment, '"9000-12-31T00:00:00Z"', '"9001-01-01T00:00:00Z"'),
        (Moment, '"2026-03-02T12:00:00+01:00"', '"2026-03-02T12:00:00"'),
    ],
)
def test_what_is_just_within_a_limit_is_read_and_what_is_beyond_is_not(kind, good, bad):
    value = read_json(kind, good)
    assert read_json(kind, msgspec.json.encode(value)) == value
    with pytest.raises(ValueError, match=r"."):
        read_json(kind, bad)
