"""What the errors of Python, NumPy and JAX mean when a learner meets them in an exercise.

Messages differ between versions of JAX, so that the patterns match loosely; the first that matches
speaks. What is in braces comes from the pattern's named groups.
"""

_KEY_ENTRY = "(DictKey|SequenceKey|GetAttrKey|FlattenedIndexKey)"
_STRUCTURES = (
    "the trees that are walked together must have the same structure: the same kinds of nodes, "
    "the same keys, and `None` in the same places"
)

MEANINGS: list[tuple[str, str, str]] = [
    # Key paths.
    (
        "AttributeError",
        f"'(?P<has>{_KEY_ENTRY})' object has no attribute '(?P<name>\\w+)'",
        "the entries of a key path differ by node: a dict's has `.key`, a list's or a tuple's "
        "`.idx`, an attribute's `.name`; here comes a {has}, which has no `.{name}`",
    ),
    (
        "TypeError",
        f"(expected str instance, |not ){_KEY_ENTRY} found|{_KEY_ENTRY}.*(str|concatenate)",
        "the entries of a key path are objects, not texts",
    ),
    ("TypeError", f"'{_KEY_ENTRY}' object", "the entries of a key path are objects with one field"),
    # Tracers.
    (
        "ConcretizationTypeError|TracerBoolConversionError",
        r"bool|boolean|truth",
        "inside of a transformation a value is a tracer, which stands for any number: Python's "
        "`if`, `and`, `or` and `while` cannot look at it",
    ),
    (
        "TracerArrayConversionError",
        "",
        "NumPy needs the numbers of an array, and inside of a transformation there is only a "
        "tracer: use `jnp`",
    ),
    (
        "TracerIntegerConversionError|ConcretizationTypeError|NonConcreteBooleanIndexError",
        "",
        "this needs a concrete number while JAX traces, when it has a tracer only: what decides "
        "about shapes, loops or branches in Python must not be a leaf",
    ),
    (
        "UnexpectedTracerError",
        "",
        "a traced value left its function, by a variable or attribute that outlives the call",
    ),
    ("KeyReuseError", "", "one random key was used twice"),
    # Transformations whose messages speak of structures too.
    (
        "ValueError",
        r"in_axes|out_axes",
        "what `in_axes` says must fit the arguments: one entry for all of an argument, or a tree "
        "like it",
    ),
    (
        "ValueError|IndexError",
        r"vmap.*(inconsistent sizes|different sizes|mapped|rank should)",
        "`jax.vmap` needs the mapped axis in every leaf it maps over, and everywhere with the same "
        "size",
    ),
    (
        "TypeError",
        r"(scan|while_loop|fori_loop|body_fun).*carry|carry.*(type|structure)",
        "a carry must come out as it went in: same structure, aux_data, shapes and dtypes",
    ),
    (
        "ValueError",
        r"equality of metadata|metadata fields",
        "aux_data is compared with `==`, and this comparison failed: no arrays belong in it",
    ),
    (
        "IndexError|TypeError",
        r"(Slice entries|Indexer|slice indices|integer scalar arrays|Shapes must be).*",
        "a place, a slice or a shape needs whole numbers that are known: no float, no tracer and "
        "nothing else",
    ),
    # Structures.
    (
        "ValueError",
        r"Expected None, got|Expected .*None",
        f"one tree has a `None` where the other has something else; {_STRUCTURES}",
    ),
    (
        "ValueError",
        r"[Mm]ismatch custom node data|custom node data",
        "two nodes of a registered class have different aux_data; that is part of the structure",
    ),
    (
        "ValueError",
        r"Custom node type mismatch|[Nn]ode type mismatch",
        "two nodes are of different kinds in one place",
    ),
    (
        "ValueError",
        r"Dict key mismatch|[Kk]ey mismatch|key set",
        "the dicts that are walked together have different keys",
    ),
    (
        "ValueError",
        r"(Tuple|List|Named tuple) arity mismatch|arity mismatch",
        "two nodes in the same place have different numbers of children",
    ),
    (
        "ValueError|TypeError",
        r"[Ee]xpected (an instance of )?(dict|list|tuple|named tuple|OrderedDict|<class)",
        f"two different kinds of nodes meet; {_STRUCTURES}",
    ),
    (
        "ValueError",
        r"[Ee]xpected leaf, got|Expected.*leaf",
        "one tree goes on where the other already has a leaf",
    ),
    (
        "ValueError",
        r"[Tt]oo (few|many) leaves|leaves for (PyTreeDef|structure)|treedef.unflatten|unflatten",
        "the number of leaves does not fit the tree structure they are put into",
    ),
    (
        "ValueError|TypeError",
        r"pytree.{0,40}(structure|prefix)|prefix (error|of)|tree structure|tree prefix",
        _STRUCTURES,
    ),
    (
        "ValueError",
        r"Comparator raised|[Kk]eys.{0,20}not (sortable|comparable)|sort.*keys",
        "JAX sorts a dict's keys, and these keys cannot be compared with each other",
    ),
    ("ValueError", "Duplicate custom.*registration", "this class is registered already"),
    # What jax.jit, grad, vmap and scan ask for.
    (
        "ValueError|TypeError",
        r"[Nn]on-hashable static|unhashable.*static|static.*hashable",
        "what is static is looked up by its hash, so that it must be hashable: no list, dict or "
        "array",
    ),
    (
        "TypeError",
        r"unhashable type: '(?P<type>[\w.]+)'|(?P<type2>\w+) is not hashable",
        "an object that can change or an array has no hash, so that it cannot be a dict's key, be "
        "in a set, or be static: {type}{type2}",
    ),
    (
        "TypeError|ValueError",
        r"not a valid (JAX|value for jnp)|annot interpret value|rror interpreting argument",
        "this takes arrays and numbers as leaves, and it found something else, such as a text or "
        "a function",
    ),
    (
        "TypeError",
        r"grad requires real- or complex-valued|requires (real|floating).{0,40}inputs|dtype.*int",
        "`jax.grad` can differentiate with respect to floating-point leaves only, and found others",
    ),
    (
        "TypeError",
        r"Gradient only defined for scalar-output",
        "`jax.grad` needs a function that returns one number, not an array or several values",
    ),
    (
        "(TypeError|ValueError|RuntimeError)",
        r"donated|deleted",
        "this buffer was donated, so that it cannot be used again",
    ),
    # Shapes and dtypes.
    (
        "TypeError",
        r"requires ndarray or scalar arguments, got <class '(?!NoneType)(?P<type>[\w.]+)'",
        "this function takes single arrays, and here comes a {type}; `jax.tree.map` would apply it "
        "to every leaf",
    ),
    (
        "TypeError|ValueError",
        r"[Cc]annot interpret '.*' as a data type|single tuple argument",
        "a shape goes in as one tuple; a second argument is the dtype",
    ),
    (
        "ValueError",
        r"[Nn]eed at least one array",
        "there is nothing to put together: a tree can be without leaves",
    ),
    ("ValueError", r"[Nn]o cast function", "NumPy does not know this dtype when it is read back"),
    (
        "ValueError",
        r"must include all dataclass fields",
        "a field has been left out, or one too many",
    ),
    (
        "TypeError|ValueError",
        r"broadcast|ndim at least|ncompatible shapes|must have equal|got shapes|dot_general|matmul",
        "the shapes do not fit together",
    ),
    (
        "TypeError|ValueError",
        r"axis .{0,30}out of (bounds|range)|AxisError",
        "an array here has fewer axes than this needs",
    ),
    ("AxisError", "", "an array here has fewer axes than this needs"),
    (
        "ValueError",
        r"(all input array dimensions|same shape|same number of dimensions)",
        "these arrays cannot be put together: their shapes differ",
    ),
    (
        "ValueError",
        r"truth value of an array",
        "a comparison of arrays yields an array, which is neither true nor false: say `any` or "
        "`all`, or compare objects with `is`",
    ),
    (
        "ValueError",
        r"(zero-size|empty sequence|empty iterable|iterable argument is empty)|min\(\)|max\(\)",
        "there is nothing to choose from here: something can be empty",
    ),
    (
        "TypeError",
        r"reduce\(\) of empty",
        "there is nothing to add up here: something can be empty",
    ),
    (
        "ValueError",
        r"not enough values to unpack|too many values",
        "the parts do not match in number",
    ),
    ("ValueError", r"zip\(\) argument", "the series that go together have different lengths"),
    ("ValueError", r"invalid literal|could not convert", "not every text is a number"),
    ("ValueError", r"[Rr]ead-?only|assignment destination", "this NumPy array cannot be changed"),
    (
        "TypeError",
        r"JAX arrays are immutable|does not support item assignment.*[Aa]rray",
        "JAX arrays cannot be changed: `.at[...]` makes a new one",
    ),
    # Plain Python.
    (
        "TypeError",
        r"'(?P<type>tuple|str|\w*Array\w*)' object does not support item (assignment|deletion)",
        "a {type} cannot be changed",
    ),
    (
        "AttributeError|TypeError",
        r"'?NoneType'?",
        "there is a `None` where your code expects something else",
    ),
    (
        "AttributeError",
        r"'(?P<type>[\w.]+)' object has no attribute '(?P<name>\w+)'",
        "not everything that comes here has `.{name}`: this is a {type}",
    ),
    ("AttributeError", r"has no attribute '(?P<name>\w+)'", "there is no `{name}` here"),
    ("FrozenInstanceError", "", "an object of a frozen dataclass cannot be changed: make another"),
    ("AttributeError", r"can't set|cannot assign|read-only", "this attribute cannot be changed"),
    (
        "TypeError",
        r"'(?P<type>[\w.]+)' object is not iterable",
        "a {type} has no items to go through",
    ),
    ("TypeError", r"iteration over a 0-d array", "a 0-d array has no items to go through"),
    (
        "TypeError",
        r"object of type '(?P<type>[\w.]+)' has no len|unsized",
        "not everything has a length",
    ),
    (
        "TypeError",
        r"'(?P<type>[\w.]+)' object is not subscriptable",
        "a {type} has no items; it may be a leaf already",
    ),
    (
        "TypeError",
        r"(list|tuple|string) indices must be",
        "a list and a tuple have places, not names",
    ),
    (
        "TypeError",
        r"'(?P<type>[\w.]+)' object is not callable",
        "a {type} is called like a function",
    ),
    (
        "TypeError",
        r"missing \d+ required (positional|keyword-only) argument",
        "something is called with fewer arguments than it needs",
    ),
    (
        "TypeError",
        r"unexpected keyword argument '(?P<name>\w+)'",
        "something is called with the argument `{name}`, which it does not take",
    ),
    (
        "TypeError",
        r"takes .*\d+ .*given|takes no arguments|positional argument",
        "something is called with more arguments than it takes",
    ),
    (
        "TypeError",
        r"'[<>]=?' not supported between instances of '(?P<one>[\w.]+)' and '(?P<two>[\w.]+)'",
        "a {one} and a {two} cannot be put in order",
    ),
    (
        "TypeError",
        r"unsupported operand type.*: '(?P<one>[\w.]+)' and '(?P<two>[\w.]+)'",
        "one cannot calculate with a {one} and a {two}; is each of them a leaf?",
    ),
    (
        "TypeError",
        r"multiply sequence|'(?P<type>[\w.]+)' object is not a mapping",
        "a leaf or a whole container stands where your code expects the other",
    ),
    (
        "TypeError",
        r"(must be|argument must be).{0,30}(number|real)",
        "not everything that comes here is a number",
    ),
    (
        "TypeError",
        r"unsupported operand type|bad operand|can only concatenate|must be str|expected str|ufunc",
        "this works for some types only, and another one comes here",
    ),
    ("KeyError", "", "no such key is there"),
    ("IndexError", "", "there are fewer items than this needs; something can be empty or shorter"),
    ("StopIteration|RuntimeError", "^$|StopIteration", "the items have run out"),
    (
        "RecursionError",
        "",
        "the function calls itself without an end: some input never gets smaller",
    ),
    ("UnboundLocalError", "", "a variable is used on a way through the function that never set it"),
    ("NameError", r"name '(?P<name>\w+)'", "`{name}` is not defined in this cell or in the set-up"),
    ("ZeroDivisionError", "", "something that can be zero is divided by"),
    ("AssertionError", "", "something that is taken for granted does not hold here"),
]
