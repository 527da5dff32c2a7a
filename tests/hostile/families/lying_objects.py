"""Lying objects: results that say of themselves whatever is asked."""

from tests.hostile.case import Family

family = Family("lying")

family.local(
    {
        ("always equal", "count_leaves"): """
    class Yes(int):
        __eq__ = lambda self, other: True
        __ne__ = lambda self, other: False
        __hash__ = int.__hash__
    def count_leaves(tree):
        return Yes(0)
""",
        ("a class that is every class", "count_leaves"): """
    class Every(type):
        __instancecheck__ = lambda cls, other: True
        __subclasscheck__ = lambda cls, other: True
        __eq__ = lambda cls, other: True
        __hash__ = type.__hash__
    class Number(int, metaclass=Every):
        __class__ = property(lambda self: int)
        item = lambda self: self
        ndim = 0
        dtype = np.dtype(int)
    def count_leaves(tree):
        return Number(1)
""",
        ("a dict that says other items each time", "leaf_shapes"): """
    class Changing(dict):
        seen = 0
        def __iter__(self):
            Changing.seen += 1
            return iter(["w", "b"][:Changing.seen % 3])
        items = lambda self: [(key, 1) for key in self]
        keys = lambda self: list(self)
        __getitem__ = lambda self, key: 1
        __len__ = lambda self: 2
    def leaf_shapes(tree):
        return Changing()
""",
        ("an error of every type", "whole_shapes"): """
    class Every(type):
        __instancecheck__ = __subclasscheck__ = lambda *_: True
    class Wrong(KeyError, ValueError, TypeError, metaclass=Every):
        __name__ = "KeyError"
        def __str__(self):
            return "".join(map(chr, range(32, 127)))
    Wrong.__name__ = "KeyError"
    def whole_shapes(tree):
        raise Wrong("/")
""",
    }
)
