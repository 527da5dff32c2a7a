# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% exercise="init_mlp" variant="by_folding_in"
def init_mlp(key, sizes):
    layers = []
    for place in range(len(sizes) - 1):
        shape = sizes[place], sizes[place + 1]
        w = jax.random.normal(jax.random.fold_in(key, place), shape) * (2 / shape[0]) ** 0.5
        layers.append({"w": w, "b": jnp.zeros((shape[1],))})
    return layers


# %% exercise="init_mlp" variant="he_uniform"
def init_mlp(key, sizes):
    layers = []
    for inputs, outputs in zip(sizes[:-1], sizes[1:]):
        key, subkey = jax.random.split(key)
        limit = np.sqrt(6 / inputs)
        w = jax.random.uniform(subkey, (inputs, outputs), minval=-limit, maxval=limit)
        layers.append({"w": w, "b": np.zeros(outputs, np.float32)})
    return layers


# %% exercise="init_mlp" variant="jax_initializer"
def init_mlp(key, sizes):
    he = jax.nn.initializers.he_normal()
    keys = jax.random.split(key, len(sizes))
    return [
        {"w": he(key, shape), "b": jnp.zeros(shape[1])}
        for key, shape in zip(keys, zip(sizes, sizes[1:]))
    ]


# %% exercise="init_mlp" misconception="one_key_for_all" covers="C26"
"""Your layers are proportional to each other. Perhaps all layers draw from the same key. The same key gives the same numbers, so layers of equal shape start as copies of each other."""
def init_mlp(key, sizes):
    key, subkey = jax.random.split(key)
    return [
        {
            "w": jax.random.normal(subkey, (inputs, outputs)) * jnp.sqrt(2 / inputs),
            "b": jnp.zeros(outputs),
        }
        for inputs, outputs in zip(sizes, sizes[1:])
    ]


# %% exercise="init_mlp" misconception="small_is_safe" section="how-large-at-the-start" covers="C32"
"""Your weights are far too small, perhaps a fixed 0.01 times a normal draw. Then each layer makes its input smaller, little of it reaches the output, and the gradient is almost 0."""
def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        {"w": 0.01 * jax.random.normal(key, (inputs, outputs)), "b": jnp.zeros(outputs)}
        for key, inputs, outputs in zip(keys, sizes, sizes[1:])
    ]


# %% exercise="init_mlp" misconception="variance_for_deviation" section="how-large-at-the-start"
"""Your weights are several times too small. Perhaps you multiply by the variance. `jax.random.normal` has standard deviation 1: multiply it by the standard deviation that you want."""
def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        {"w": jax.random.normal(key, (inputs, outputs)) * 2 / inputs, "b": jnp.zeros(outputs)}
        for key, inputs, outputs in zip(keys, sizes, sizes[1:])
    ]


# %% exercise="init_mlp" misconception="the_draw_as_it_is" section="how-large-at-the-start"
"""Your weights are too large in every layer. Perhaps you use the normal numbers without a factor, with standard deviation 1. Then the sum over many inputs grows from layer to layer."""
def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        {"w": jax.random.normal(key, (inputs, outputs)), "b": jnp.zeros(outputs)}
        for key, inputs, outputs in zip(keys, sizes, sizes[1:])
    ]


# %% exercise="init_mlp" misconception="counts_the_outputs" section="how-large-at-the-start"
"""Your weights are too large where a layer has fewer outputs than inputs. Perhaps you divide by the outputs. One output is a sum over all inputs."""
def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        {
            "w": jax.random.normal(key, (inputs, outputs)) * jnp.sqrt(2 / outputs),
            "b": jnp.zeros(outputs),
        }
        for key, inputs, outputs in zip(keys, sizes, sizes[1:])
    ]


# %% exercise="init_mlp" misconception="forgets_the_two" section="how-large-at-the-start"
"""Your weights are too small: 0.7 times He's deviation, in each layer. Perhaps the 2 of the formula is missing: √(1 / inputs). ReLU sets half of the numbers to 0, and the 2 balances this."""
def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        {
            "w": jax.random.normal(key, (inputs, outputs)) / jnp.sqrt(inputs),
            "b": jnp.zeros(outputs),
        }
        for key, inputs, outputs in zip(keys, sizes, sizes[1:])
    ]


# %% exercise="init_mlp" misconception="biases_start_at_one" covers="C26"
"""Your biases start at 1. They should start at 0: the weights alone make the outputs differ."""
def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        {
            "w": jax.random.normal(key, (inputs, outputs)) * jnp.sqrt(2 / inputs),
            "b": jnp.ones(outputs),
        }
        for key, inputs, outputs in zip(keys, sizes, sizes[1:])
    ]


# %% exercise="init_mlp" misconception="rows_are_outputs" section="forward-and-vmap"
"""Your weight matrices have outputs first, inputs second, as in some other libraries. Here a layer computes `x @ w`, so that the rows of `w` belong to the inputs."""
def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        {
            "w": jax.random.normal(key, (outputs, inputs)) * jnp.sqrt(2 / inputs),
            "b": jnp.zeros(outputs),
        }
        for key, inputs, outputs in zip(keys, sizes, sizes[1:])
    ]


# %% exercise="init_mlp" misconception="settings_are_parameters" section="parameters-are-data" covers="M24"
"""Your layers hold more than arrays, a text for example. Every leaf of the parameters goes through `jax.grad` and `jax.jit`. Both raise an error for a text or a function. Keep settings outside of the parameters."""
def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        {
            "w": jax.random.normal(key, (inputs, outputs)) * jnp.sqrt(2 / inputs),
            "b": jnp.zeros(outputs),
            "activation": "relu",
        }
        for key, inputs, outputs in zip(keys, sizes, sizes[1:])
    ]


# %% exercise="init_mlp" misconception="a_seed_of_its_own"
"""Two different keys give you the same weights. Perhaps you make a new key with a fixed seed. The caller's `key` has to decide the numbers."""
def init_mlp(key, sizes):
    keys = jax.random.split(jax.random.key(0), len(sizes) - 1)
    return [
        {
            "w": jax.random.normal(key, (inputs, outputs)) * jnp.sqrt(2 / inputs),
            "b": jnp.zeros(outputs),
        }
        for key, inputs, outputs in zip(keys, sizes, sizes[1:])
    ]


# %% exercise="init_mlp" misconception="deviation_for_limit" section="how-large-at-the-start"
"""Your weights are too small: 0.58 times He's deviation, in each layer. Perhaps you draw uniform numbers between minus and plus this deviation. The standard deviation of such numbers is their limit divided by √3."""
def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    layers = []
    for key, inputs, outputs in zip(keys, sizes, sizes[1:]):
        limit = np.sqrt(2 / inputs)
        w = jax.random.uniform(key, (inputs, outputs), minval=-limit, maxval=limit)
        layers.append({"w": w, "b": jnp.zeros(outputs)})
    return layers


# %% exercise="init_mlp" misconception="uniform_from_0_to_1" section="how-large-at-the-start"
"""The mean of your weights is not 0, and they are too close together. Perhaps you use `jax.random.uniform` without limits. It draws between 0 and 1, so no weight is negative, and the deviation is 0.29."""
def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        {
            "w": jax.random.uniform(key, (inputs, outputs)) * jnp.sqrt(2 / inputs),
            "b": jnp.zeros(outputs),
        }
        for key, inputs, outputs in zip(keys, sizes, sizes[1:])
    ]


# %% exercise="init_mlp" misconception="whole_numbers_for_biases" section="parameters-are-data"
"""Your biases are whole numbers, of dtype `int32`: `jnp.array` makes `int32` of Python's ints. `jax.grad` raises an error for such leaves, and a bias could never become 0.5."""
def init_mlp(key, sizes):
    keys = jax.random.split(key, len(sizes) - 1)
    return [
        {
            "w": jax.random.normal(key, (inputs, outputs)) * jnp.sqrt(2 / inputs),
            "b": jnp.array([0] * outputs),
        }
        for key, inputs, outputs in zip(keys, sizes, sizes[1:])
    ]


# %% exercise="init_mlp" misconception="a_key_by_width"
"""Some of your layers draw the same numbers: the layers with the same number of inputs. Perhaps you make the key of a layer from its width. Two layers may have the same width; only their places in the list differ."""
def init_mlp(key, sizes):
    return [
        {
            "w": jax.random.normal(jax.random.fold_in(key, inputs), (inputs, outputs))
            * jnp.sqrt(2 / inputs),
            "b": jnp.zeros(outputs),
        }
        for inputs, outputs in zip(sizes, sizes[1:])
    ]


# %% exercise="init_mlp" equivalent="The width is the last of two, or the keys and sizes that are more are left over."
# solution: len(sizes) - 1 → len(sizes) + 1
# solution: len(sizes) - 1 → len(sizes)
# solution: len(sizes) - 1 → len(sizes) - 0
# solution: len(sizes) - 1 → len(sizes) - -1
# by_folding_in: shape[1] → shape[-1]
# he_uniform: sizes[:-1] → sizes[:]
# jax_initializer: shape[1] → shape[-1]


# %% exercise="init_mlp" equivalent="A list or a tuple: where the prompt does not say, either is right."
# by_folding_in: (sizes[place], sizes[place + 1]) → [sizes[place], sizes[place + 1]]


# %% exercise="forward" variant="one_loop"
def forward(params, x):
    for place, layer in enumerate(params):
        if place > 0:
            x = jnp.maximum(x, 0)
        x = jnp.dot(x, layer["w"]) + layer["b"]
    return x


forward_batch = jax.vmap(forward, (None, 0))


# %% exercise="forward" variant="matrices_at_once"
def forward(params, x):
    *hidden, last = params
    for layer in hidden:
        x = jnp.where(x @ layer["w"] + layer["b"] > 0, x @ layer["w"] + layer["b"], 0.0)
    return x @ last["w"] + last["b"]


def forward_batch(params, xs):
    return forward(params, xs)


# %% exercise="forward" misconception="relu_at_the_end"
"""Your outputs are never negative: you apply ReLU after the last layer too. The outputs of the last layer are logits, and logits may be negative."""
def forward(params, x):
    for layer in params:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x


def forward_batch(params, xs):
    return jax.vmap(forward, in_axes=(None, 0))(params, xs)


# %% exercise="forward" misconception="no_relu"
"""Your network is right with one layer, and wrong with more. Perhaps ReLU is missing between the layers. Without ReLU, many linear layers are the same as one linear layer."""
def forward(params, x):
    for layer in params:
        x = x @ layer["w"] + layer["b"]
    return x


def forward_batch(params, xs):
    return jax.vmap(forward, in_axes=(None, 0))(params, xs)


# %% exercise="forward" misconception="relu_before_the_layer"
"""Your inputs lose their negative numbers before the first layer. ReLU belongs after the `x @ w + b` of a layer. The first layer gets the example without ReLU."""
def forward(params, x):
    for layer in params:
        x = jax.nn.relu(x) @ layer["w"] + layer["b"]
    return x


def forward_batch(params, xs):
    return jax.vmap(forward, in_axes=(None, 0))(params, xs)


# %% exercise="forward" misconception="bias_after_relu"
"""Your hidden numbers can be negative, because you add the bias after ReLU. Add the bias before ReLU: `relu(x @ w + b)`."""
def forward(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"]) + layer["b"]
    return x @ params[-1]["w"] + params[-1]["b"]


def forward_batch(params, xs):
    return jax.vmap(forward, in_axes=(None, 0))(params, xs)


# %% exercise="forward" misconception="weights_first"
"""You multiply with the matrix on the left, `w @ x`. With as many inputs as outputs that raises no error and gives other numbers: here the rows of `w` belong to the inputs."""
def forward(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(layer["w"] @ x + layer["b"])
    return params[-1]["w"] @ x + params[-1]["b"]


def forward_batch(params, xs):
    return jax.vmap(forward, in_axes=(None, 0))(params, xs)


# %% exercise="forward" misconception="vmap_maps_the_parameters"
"""Your `forward_batch` fails. Perhaps its `jax.vmap` has no `in_axes`. Then it maps over the first axis of every leaf, also in the parameters."""
def forward(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def forward_batch(params, xs):
    return jax.vmap(forward)(params, xs)


# %% exercise="forward" misconception="batch_in_the_columns"
"""Your `forward_batch` takes the columns of `xs` as examples. Here each example is a row, so the batch is axis 0. When `xs` has as many rows as columns, no error tells you."""
def forward(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def forward_batch(params, xs):
    return jax.vmap(forward, in_axes=(None, 1))(params, xs)


# %% exercise="forward" misconception="takes_the_last_layer_out" section="parameters-are-data"
"""Your `forward` is right in the first call; then the list of layers has changed. Perhaps you call `pop`. The list belongs to the caller, who needs all layers for the next example."""
def forward(params, x):
    last = params.pop()
    for layer in params:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ last["w"] + last["b"]


def forward_batch(params, xs):
    return jax.vmap(forward, in_axes=(None, 0))(params, xs)


# %% exercise="forward" misconception="softmax_inside" section="the-loss"
"""Your outputs lie between 0 and 1 and add up to 1. Softmax belongs to the loss. A network returns logits: numbers of any size."""
def forward(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return jax.nn.softmax(x @ params[-1]["w"] + params[-1]["b"])


def forward_batch(params, xs):
    return jax.vmap(forward, in_axes=(None, 0))(params, xs)


# %% exercise="forward" misconception="relu_stops_at_one"
"""Your hidden numbers are never larger than 1. ReLU changes negative numbers only: they become 0. Positive numbers stay the same."""
def forward(params, x):
    for layer in params[:-1]:
        x = jnp.clip(x @ layer["w"] + layer["b"], 0, 1)
    return x @ params[-1]["w"] + params[-1]["b"]


def forward_batch(params, xs):
    return jax.vmap(forward, in_axes=(None, 0))(params, xs)


# %% exercise="forward" misconception="the_last_one_by_its_looks"
"""Your network is wrong where one dict stands in the list twice. Perhaps you compare each layer with the last layer by `is`. Then the same dict is found at both places. Look at the place of a layer in the list."""
def forward(params, x):
    for layer in params:
        x = x @ layer["w"] + layer["b"]
        if layer is not params[-1]:
            x = jax.nn.relu(x)
    return x


def forward_batch(params, xs):
    return jax.vmap(forward, in_axes=(None, 0))(params, xs)


# %% exercise="forward" equivalent="`x @ w` and ReLU take a batch of rows as they are."
# solution: jax.vmap(forward, in_axes=(None, 0)) → forward
# one_loop: jax.vmap(forward, (None, 0)) → forward


# %% exercise="forward" equivalent="The larger one of a number and 0 is the same, either way."
# one_loop: jnp.maximum(x, 0) → jnp.maximum(0, x)
# matrices_at_once: x @ layer['w'] + layer['b'] > 0 → x @ layer['w'] + layer['b'] >= 0


# %% exercise="cross_entropy" variant="by_logsumexp"
def cross_entropy(logits, labels):
    chosen = jnp.take_along_axis(logits, labels[:, None], axis=-1)[:, 0]
    return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - chosen)


# %% exercise="cross_entropy" variant="by_hand_and_one_hot"
def cross_entropy(logits, labels):
    shifted = logits - jnp.max(logits, axis=1, keepdims=True)
    log_p = shifted - jnp.log(jnp.sum(jnp.exp(shifted), axis=1, keepdims=True))
    return -(log_p * jax.nn.one_hot(labels, logits.shape[1])).sum(1).mean()


# %% exercise="cross_entropy" variant="one_example_and_vmap"
def cross_entropy(logits, labels):
    def loss(row, label):
        return -jax.nn.log_softmax(row)[label]

    return jax.vmap(loss)(logits, labels).mean()


# %% exercise="cross_entropy" misconception="exp_of_large_logits"
"""Your loss is right for small logits, and `nan` or infinite for large ones. In float32, `exp(100)` is already `inf`, and `inf / inf` is `nan`."""
def cross_entropy(logits, labels):
    p = jnp.exp(logits) / jnp.sum(jnp.exp(logits), axis=1, keepdims=True)
    return -jnp.mean(jnp.log(p[jnp.arange(len(labels)), labels]))


# %% exercise="cross_entropy" misconception="log_of_softmax"
"""Your loss is `inf` where the right class has a tiny probability. Perhaps you take the logarithm of a softmax. Even a stable softmax rounds such a probability to 0, and the logarithm of 0 is not finite."""
def cross_entropy(logits, labels):
    p = jax.nn.softmax(logits)
    return -jnp.mean(jnp.log(p[jnp.arange(len(labels)), labels]))


# %% exercise="cross_entropy" misconception="one_shift_for_all_rows"
"""Your loss is right unless the rows are of very different size. Perhaps you subtract the largest number of the whole table. Then every `exp` in a row of small logits is 0. Subtract the largest number of each row from this row."""
def cross_entropy(logits, labels):
    shifted = logits - jnp.max(logits)
    log_p = shifted - jnp.log(jnp.sum(jnp.exp(shifted), axis=1, keepdims=True))
    return -jnp.mean(log_p[jnp.arange(len(labels)), labels])


# %% exercise="cross_entropy" misconception="a_little_more_than_zero"
"""Where the right class has a tiny probability, your loss is finite but too small, and its gradient is 0. Perhaps you add a small number before the logarithm. This hides the infinity, but does not give the right value."""
def cross_entropy(logits, labels):
    p = jax.nn.softmax(logits)
    return -jnp.mean(jnp.log(p[jnp.arange(len(labels)), labels] + 1e-9))


# %% exercise="cross_entropy" misconception="sum_for_mean"
"""Your loss grows with the number of examples: it is the sum, and the task asks for the mean. With a sum, a batch of twice the size makes steps of twice the length."""
def cross_entropy(logits, labels):
    log_p = jax.nn.log_softmax(logits)
    return -jnp.sum(log_p[jnp.arange(len(labels)), labels])


# %% exercise="cross_entropy" misconception="mean_over_all_numbers"
"""Your loss is too small, by the number of classes. Perhaps you take the mean of a table with one row for each example, where all but one number in a row are 0. The zeros count too."""
def cross_entropy(logits, labels):
    log_p = jax.nn.log_softmax(logits)
    return -jnp.mean(log_p * jax.nn.one_hot(labels, logits.shape[1]))


# %% exercise="cross_entropy" misconception="all_pairs"
"""Your loss is right for one example only. Perhaps you index with `[:, labels]`. That takes the columns of all labels from every row: a whole table, and not one number from each row."""
def cross_entropy(logits, labels):
    return -jnp.mean(jax.nn.log_softmax(logits)[:, labels])


# %% exercise="cross_entropy" misconception="softmax_down_the_columns"
"""Your probabilities add up to 1 over the examples, not over the classes. The classes of one example are a row, and `axis=0` runs down the columns."""
def cross_entropy(logits, labels):
    log_p = jax.nn.log_softmax(logits, axis=0)
    return -jnp.mean(log_p[jnp.arange(len(labels)), labels])


# %% exercise="cross_entropy" misconception="logarithm_without_minus"
"""Your loss is never positive, and it is larger for a better network. The logarithm of a probability is negative: the minus is missing."""
def cross_entropy(logits, labels):
    log_p = jax.nn.log_softmax(logits)
    return jnp.mean(log_p[jnp.arange(len(labels)), labels])


# %% exercise="cross_entropy" misconception="only_the_likeliest_class"
"""You use the class with the largest logit, and not the class of the label. Such a loss is small when the network is sure, also when the network is wrong."""
def cross_entropy(logits, labels):
    return -jnp.mean(jnp.max(jax.nn.log_softmax(logits), axis=1))


# %% exercise="cross_entropy" misconception="where_keeps_nan_away"
"""Your loss is right, but its gradient is `nan` where logits are large. Perhaps `jnp.where` replaces a result that is not finite. `jax.grad` computes the gradient of both branches, and 0 times the infinite gradient of the other branch is `nan`."""
def cross_entropy(logits, labels):
    rows = jnp.arange(labels.shape[0])
    shifted = logits - jnp.max(logits, axis=1, keepdims=True)
    p = jax.nn.softmax(logits, axis=1)[rows, labels]
    return jnp.mean(jnp.where(p > 1e-30, -jnp.log(p), -shifted[rows, labels]))


# %% exercise="cross_entropy" misconception="shifts_by_the_size"
"""Your loss is right for large positive logits, and infinite for large negative ones. Perhaps you subtract the largest absolute value. The largest number of a row should become 0. If all numbers are negative, your shift makes them even smaller."""
def cross_entropy(logits, labels):
    top = jnp.max(jnp.abs(logits), axis=1, keepdims=True)
    log_sum = jnp.log(jnp.sum(jnp.exp(logits - top), axis=1)) + top[:, 0]
    return jnp.mean(log_sum - logits[jnp.arange(len(labels)), labels])


# %% exercise="cross_entropy" misconception="clips_the_logits"
"""Your loss is finite and wrong for large logits. Perhaps you clip them first, so that `exp` stays finite. Then logits of 500 and 510 become equal, and a clipped number has no gradient."""
def cross_entropy(logits, labels):
    z = jnp.clip(logits, -80, 80)
    log_p = z - jnp.log(jnp.sum(jnp.exp(z), axis=1, keepdims=True))
    return -jnp.mean(log_p[jnp.arange(len(labels)), labels])


# %% exercise="cross_entropy" equivalent="There are two axes, so the last is axis 1."
# by_logsumexp: jnp.take_along_axis(logits, labels[:, None], axis=-1) → jnp.take_along_axis(logits, labels[:, None])
# by_logsumexp: axis=-1 → axis=1, line 2
# by_logsumexp: axis=-1 → axis=1, line 3
# by_hand_and_one_hot: axis=1 → axis=-1, line 2
# by_hand_and_one_hot: axis=1 → axis=-1, line 3
# by_hand_and_one_hot: logits.shape[1] → logits.shape[-1]
# by_hand_and_one_hot: (log_p * jax.nn.one_hot(labels, logits.shape[1])).sum(1) → (log_p * jax.nn.one_hot(labels, logits.shape[1])).sum(-1)


# %% exercise="cross_entropy" equivalent="One column: JAX takes it at every place, and the mean over all pairs is the same."
# by_logsumexp: (:, 0) → (:,)
# by_logsumexp: (:, 0) → (:, 1)
# by_logsumexp: (:, 0) → (:, -1)


# %% exercise="make_step" variant="jit_as_a_function"
def make_step(loss):
    def step(params, x, y, rate):
        grads = jax.grad(loss)(params, x, y)
        new = jax.tree.map(lambda p, g: p - rate * g, params, grads)
        return new, loss(params, x, y)

    return jax.jit(step)


# %% exercise="make_step" variant="rate_made_an_array"
def make_step(loss):
    value_and_grad = jax.value_and_grad(loss)

    @jax.jit
    def jitted(params, x, y, rate):
        value, grads = value_and_grad(params, x, y)
        steps = jax.tree.map(lambda g: -rate * g, grads)
        return jax.tree.map(jnp.add, params, steps), value

    return lambda params, x, y, rate: jitted(params, x, y, jnp.float32(rate))


# %% exercise="make_step" variant="donates_the_parameters"
def make_step(loss):
    def step(params, x, y, rate):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - rate * g, params, grads), value

    return jax.jit(step, donate_argnums=0)


# %% exercise="make_step" misconception="the_first_rate_for_ever" covers="C27"
"""Your first step is right, and the later ones still use the first rate. A jitted function reads other variables than its arguments only once, while JAX traces. The value becomes a constant in the program."""
def make_step(loss):
    settings = {}

    @jax.jit
    def jitted(params, x, y):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - settings["rate"] * g, params, grads), value

    def step(params, x, y, rate):
        settings["rate"] = rate
        return jitted(params, x, y)

    return step


# %% exercise="make_step" misconception="a_rate_of_its_own" covers="C27"
"""The caller's rate has no effect: a rate of 0 moves the parameters too. Perhaps your code has a fixed rate. Then each other rate needs another program."""
def make_step(loss):
    @jax.jit
    def step(params, x, y, rate):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value

    return step


# %% exercise="make_step" misconception="static_rate"
"""Your numbers are right, but JAX traces again for every new rate. Perhaps `rate` is static. Then the rate is a part of the program, and a thousand rates mean a thousand compilations."""
from functools import partial


def make_step(loss):
    @partial(jax.jit, static_argnames="rate")
    def step(params, x, y, rate):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - rate * g, params, grads), value

    return step


# %% exercise="make_step" misconception="no_jit"
"""Your numbers are right, but Python runs the loss function in every call, and nothing in your step is a jitted program. Without `jax.jit`, no program is kept from one call to the next."""
def make_step(loss):
    def step(params, x, y, rate):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - rate * g, params, grads), value

    return step


# %% exercise="make_step" misconception="loss_after_the_step"
"""Your parameters are right, but your loss is the loss at the new parameters. It needs another run through the network. `value_and_grad` computes the loss at the old parameters together with the gradient."""
def make_step(loss):
    @jax.jit
    def step(params, x, y, rate):
        grads = jax.grad(loss)(params, x, y)
        params = jax.tree.map(lambda p, g: p - rate * g, params, grads)
        return params, loss(params, x, y)

    return step


# %% exercise="make_step" misconception="no_loss"
"""Your step returns one thing: perhaps the new parameters alone. Return the loss as the second result: it shows whether the training works."""
def make_step(loss):
    @jax.jit
    def step(params, x, y, rate):
        grads = jax.grad(loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - rate * g, params, grads)

    return step


# %% exercise="make_step" misconception="no_step"
"""Your `make_step` returns nothing. Perhaps it defines a step and does not return it: the caller needs this function."""
def make_step(loss):
    @jax.jit
    def step(params, x, y, rate):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - rate * g, params, grads), value


# %% exercise="make_step" misconception="goes_uphill"
"""Your loss grows from step to step. A gradient points to where the function grows; to go down, move the other way."""
def make_step(loss):
    @jax.jit
    def step(params, x, y, rate):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return jax.tree.map(lambda p, g: p + rate * g, params, grads), value

    return step


# %% exercise="make_step" misconception="loss_comes_first"
"""You return the loss and then the parameters, or you unpack them that way. `value_and_grad` has that order; this task has the other one."""
def make_step(loss):
    @jax.jit
    def step(params, x, y, rate):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return value, jax.tree.map(lambda p, g: p - rate * g, params, grads)

    return step


# %% exercise="make_step" misconception="returns_the_gradient" section="a-gradient-is-a-tree"
"""You return the gradient where the new parameters should be. It has the same structure, shapes and dtypes, so no error tells you. But it is only the direction of the step."""
def make_step(loss):
    @jax.jit
    def step(params, x, y, rate):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return grads, value

    return step


# %% exercise="make_step" misconception="trees_are_numbers" section="a-gradient-is-a-tree"
"""Your step works for one bare array, and raises a `TypeError` for other trees. Perhaps it subtracts one tree from another. Python has no arithmetic for dicts: compute with the leaves."""
def make_step(loss):
    @jax.jit
    def step(params, x, y, rate):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return params - rate * grads, value

    return step


# %% exercise="make_step" misconception="a_new_jit_in_each_call"
"""Your numbers are right, but Python runs the loss function in every call. Perhaps `jax.jit` stands inside the step. Then each call makes a new jitted function, which has none of the programs of the one before."""
def make_step(loss):
    def step(params, x, y, rate):
        @jax.jit
        def jitted(params, x, y, rate):
            value, grads = jax.value_and_grad(loss)(params, x, y)
            return jax.tree.map(lambda p, g: p - rate * g, params, grads), value

        return jitted(params, x, y, rate)

    return step


# %% exercise="make_step" misconception="update_outside_of_jit"
"""Your numbers are right, but the new parameters are computed outside of `jax.jit`. Perhaps only the gradient is jitted. The update is then many small programs, one for each leaf and operation."""
def make_step(loss):
    value_and_grad = jax.jit(jax.value_and_grad(loss))

    def step(params, x, y, rate):
        value, grads = value_and_grad(params, x, y)
        return jax.tree.map(lambda p, g: p - rate * g, params, grads), value

    return step


# %% exercise="make_step" misconception="a_float_under_jit"
"""Every step raises an error about an abstract or concrete value. Perhaps `float` or `.item()` makes a Python number of the loss. While JAX traces, the loss is a tracer, which has no value yet."""
def make_step(loss):
    @jax.jit
    def step(params, x, y, rate):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - rate * g, params, grads), float(value)

    return step


# %% exercise="make_step" misconception="one_dict_only" section="a-gradient-is-a-tree"
"""Your step is right for one flat dict, and fails for every other tree. Parameters may be nested in any way, or be one bare array: use `jax.tree.map`."""
def make_step(loss):
    @jax.jit
    def step(params, x, y, rate):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        return {name: params[name] - rate * grads[name] for name in params}, value

    return step


# %% exercise="make_step" equivalent="A list or a tuple: where the prompt does not say, either is right."
# solution: (jax.tree.map(lambda p, g: p - rate * g, params, grads), value) → [jax.tree.map(lambda p, g: p - rate * g, params, grads), value]
# jit_as_a_function: (new, loss(params, x, y)) → [new, loss(params, x, y)]
# rate_made_an_array: (jax.tree.map(jnp.add, params, steps), value) → [jax.tree.map(jnp.add, params, steps), value]
# donates_the_parameters: (jax.tree.map(lambda p, g: p - rate * g, params, grads), value) → [jax.tree.map(lambda p, g: p - rate * g, params, grads), value]


# %% exercise="make_step" equivalent="A sum is the same, either way."
# rate_made_an_array: jax.tree.map(jnp.add, params, steps) → jax.tree.map(jnp.add, steps, params)


# %% exercise="make_step" equivalent="A Python float is traced as float32."
# rate_made_an_array: jnp.float32(rate) → rate


# %% exercise="make_step" equivalent="Giving the old buffers away is a choice."
# donates_the_parameters: jax.jit(step, donate_argnums=0) → jax.jit(step)
# donates_the_parameters: donate_argnums=0 → donate_argnums=-1


# %% exercise="decayed_step" variant="by_flattening"
def decayed_step(params, grads, direction, rate, decay):
    pairs, structure = jax.tree.flatten_with_path(params)
    new = []
    for (path, p), d in zip(pairs, jax.tree.leaves(direction(grads))):
        if path and getattr(path[-1], "key", None) == "w":
            d = d + decay * p
        new.append(p - rate * d)
    return jax.tree.unflatten(structure, new)


# %% exercise="decayed_step" variant="mask_first"
def decayed_step(params, grads, direction, rate, decay):
    def is_weight(path, leaf):
        text = jax.tree_util.keystr(path, simple=True, separator="/")
        return float(text.split("/")[-1] == "w")

    mask = jax.tree.map_with_path(is_weight, params)
    return jax.tree.map(
        lambda p, d, weight: p * (1 - rate * decay * weight) - rate * d,
        params,
        direction(grads),
        mask,
    )


# %% exercise="decayed_step" misconception="coupled_decay"
"""Your steps are right where the direction is the gradient itself, and wrong elsewhere. Perhaps you add the decay to the gradient first. Then the optimiser changes the decay too: of a sign, for example, little is left."""
def decayed_step(params, grads, direction, rate, decay):
    def add(path, p, g):
        is_weight = jax.tree_util.keystr(path[-1:], simple=True) == "w"
        return g + decay * p if is_weight else g

    ds = direction(jax.tree.map_with_path(add, params, grads))
    return jax.tree.map(lambda p, d: p - rate * d, params, ds)


# %% exercise="decayed_step" misconception="everything_decays"
"""Your biases decay too. Only weights should decay. A bias only moves an output up or down."""
def decayed_step(params, grads, direction, rate, decay):
    return jax.tree.map(
        lambda p, d: p - rate * (d + decay * p), params, direction(grads)
    )


# %% exercise="decayed_step" misconception="paths_hold_texts" covers="C33"
"""Nothing decays in your result. Perhaps you compare an entry of the path with a text. A path has objects such as `DictKey(key='w')`. Such an object is never equal to a text, and no error tells you."""
def decayed_step(params, grads, direction, rate, decay):
    def update(path, p, d):
        is_weight = bool(path) and path[-1] == "w"
        return p - rate * (d + decay * p) if is_weight else p - rate * d

    return jax.tree.map_with_path(update, params, direction(grads))


# %% exercise="decayed_step" misconception="every_entry_has_a_key"
"""Your step fails where a leaf lies in a list or a tuple. Perhaps you read the `key` of the last entry. The entry of a dict has a `key`; the entry of a list has an `idx`."""
def decayed_step(params, grads, direction, rate, decay):
    def update(path, p, d):
        return p - rate * (d + decay * p) if path[-1].key == "w" else p - rate * d

    return jax.tree.map_with_path(update, params, direction(grads))


# %% exercise="decayed_step" misconception="two_axes_are_a_weight"
"""You seem to tell weights by their number of axes. That often works. But stacked biases have two axes, and a weight may have one."""
def decayed_step(params, grads, direction, rate, decay):
    def update(p, d):
        return p - rate * (d + decay * p) if p.ndim >= 2 else p - rate * d

    return jax.tree.map(update, params, direction(grads))


# %% exercise="decayed_step" misconception="w_somewhere_in_the_text"
"""Leaves with names such as `raw` or `wide` decay in your result. Perhaps you look for the letter `w` in the text of the path. Longer names have this letter too, and so have the names of the parts above."""
def decayed_step(params, grads, direction, rate, decay):
    def update(path, p, d):
        is_weight = "w" in jax.tree_util.keystr(path)
        return p - rate * (d + decay * p) if is_weight else p - rate * d

    return jax.tree.map_with_path(update, params, direction(grads))


# %% exercise="decayed_step" misconception="w_anywhere_in_the_path"
"""In a part that is called `w`, all leaves decay in your result, whatever their own names are. A path names every part on the way; the leaf's own key is the last one."""
def decayed_step(params, grads, direction, rate, decay):
    def update(path, p, d):
        names = jax.tree_util.keystr(path, simple=True, separator="/").split("/")
        return p - rate * (d + decay * p) if "w" in names else p - rate * d

    return jax.tree.map_with_path(update, params, direction(grads))


# %% exercise="decayed_step" misconception="decay_without_the_rate"
"""Your weights shrink by `decay` times themselves, whatever the rate is. Some libraries do it in this way. Here the rate multiplies both parts, so a smaller rate makes the decay smaller too."""
def decayed_step(params, grads, direction, rate, decay):
    def update(path, p, d):
        is_weight = jax.tree_util.keystr(path[-1:], simple=True) == "w"
        return p - rate * d - decay * p if is_weight else p - rate * d

    return jax.tree.map_with_path(update, params, direction(grads))


# %% exercise="decayed_step" misconception="a_direction_for_each_leaf" section="an-optimiser-is-a-function-on-trees"
"""Your steps are wrong where the direction depends on the whole tree. Perhaps you call `direction` with one leaf at a time. Then a direction that needs all leaves, such as a division by the largest number of all, sees one leaf only."""
def decayed_step(params, grads, direction, rate, decay):
    def update(path, p, g):
        is_weight = jax.tree_util.keystr(path[-1:], simple=True) == "w"
        d = direction(g)
        return p - rate * (d + decay * p) if is_weight else p - rate * d

    return jax.tree.map_with_path(update, params, grads)


# %% exercise="decayed_step" misconception="weights_grow"
"""Your weights grow with the decay: its sign is wrong. Decay moves a weight towards 0. Subtract it from the weight, like the direction."""
def decayed_step(params, grads, direction, rate, decay):
    def update(path, p, d):
        is_weight = jax.tree_util.keystr(path[-1:], simple=True) == "w"
        return p - rate * (d - decay * p) if is_weight else p - rate * d

    return jax.tree.map_with_path(update, params, direction(grads))


# %% exercise="decayed_step" misconception="ends_in_w"
"""Leaves whose names end in `w`, such as `raw`, decay in your result. Perhaps you look at the end of the whole text. The last entry of the path must be `w` itself."""
def decayed_step(params, grads, direction, rate, decay):
    def update(path, p, d):
        is_weight = jax.tree_util.keystr(path, simple=True, separator="/").endswith("w")
        return p - rate * (d + decay * p) if is_weight else p - rate * d

    return jax.tree.map_with_path(update, params, direction(grads))


# %% exercise="decayed_step" equivalent="True and 1.0 multiply alike."
# mask_first: float(text.split('/')[-1] == 'w') → text.split('/')[-1] == 'w'


# %% exercise="momentum" variant="by_flattening"
def start(params):
    return jax.tree.map(lambda p: np.zeros(p.shape, p.dtype), params)


def momentum_step(params, grads, velocity, rate, beta):
    ps, structure = jax.tree.flatten(params)
    vs = [
        beta * v + g for v, g in zip(jax.tree.leaves(velocity), jax.tree.leaves(grads))
    ]
    ps = [p - rate * v for p, v in zip(ps, vs)]
    return jax.tree.unflatten(structure, ps), jax.tree.unflatten(structure, vs)


# %% exercise="momentum" variant="pairs_transposed"
def start(params):
    return jax.tree.map(lambda p: 0 * p, params)


def momentum_step(params, grads, velocity, rate, beta):
    def update(p, g, v):
        v = beta * v + g
        return p - rate * v, v

    pairs = jax.tree.map(update, params, grads, velocity)
    outer, inner = jax.tree.structure(params), jax.tree.structure((0, 0))
    return jax.tree.transpose(outer, inner, pairs)


# %% exercise="momentum" misconception="moves_with_the_old_velocity"
"""Your parameters are one step late: they move with the old velocity. When the velocity is 0, the first step does nothing."""
def start(params):
    return jax.tree.map(jnp.zeros_like, params)


def momentum_step(params, grads, velocity, rate, beta):
    params = jax.tree.map(lambda p, v: p - rate * v, params, velocity)
    return params, jax.tree.map(lambda v, g: beta * v + g, velocity, grads)


# %% exercise="momentum" misconception="forgets_the_velocity"
"""You return the old velocity. Then the next step does not know the gradients before. A function on trees has no memory: all that should be remembered has to be returned."""
def start(params):
    return jax.tree.map(jnp.zeros_like, params)


def momentum_step(params, grads, velocity, rate, beta):
    new = jax.tree.map(lambda v, g: beta * v + g, velocity, grads)
    return jax.tree.map(lambda p, v: p - rate * v, params, new), velocity


# %% exercise="momentum" misconception="velocity_changed_in_place"
"""The velocity that your `momentum_step` was given is no longer what it was. Perhaps you write the new velocity into the dict of the old one. The old velocity belongs to the caller, who may need it again."""
def start(params):
    return jax.tree.map(jnp.zeros_like, params)


def momentum_step(params, grads, velocity, rate, beta):
    new = jax.tree.map(lambda v, g: beta * v + g, velocity, grads)
    if isinstance(velocity, dict):
        velocity.update(new)
    return jax.tree.map(lambda p, v: p - rate * v, params, new), new


# %% exercise="momentum" misconception="weighted_mean"
"""Your velocity is a weighted mean: the gradient counts `1 - beta` times. That is a common form too. This task adds the whole gradient."""
def start(params):
    return jax.tree.map(jnp.zeros_like, params)


def momentum_step(params, grads, velocity, rate, beta):
    velocity = jax.tree.map(lambda v, g: beta * v + (1 - beta) * g, velocity, grads)
    return jax.tree.map(lambda p, v: p - rate * v, params, velocity), velocity


# %% exercise="momentum" misconception="rate_in_the_velocity"
"""Your velocity has the rate in it. As long as the rate stays the same the parameters agree; when it changes, your velocity still moves at the old rate."""
def start(params):
    return jax.tree.map(jnp.zeros_like, params)


def momentum_step(params, grads, velocity, rate, beta):
    velocity = jax.tree.map(lambda v, g: beta * v + rate * g, velocity, grads)
    return jax.tree.map(jnp.subtract, params, velocity), velocity


# %% exercise="momentum" misconception="looks_ahead"
"""Your parameters go further than the new velocity says: the gradient is counted once more, as Nesterov's momentum does. The velocities themselves are right."""
def start(params):
    return jax.tree.map(jnp.zeros_like, params)


def momentum_step(params, grads, velocity, rate, beta):
    velocity = jax.tree.map(lambda v, g: beta * v + g, velocity, grads)
    new = jax.tree.map(lambda p, v, g: p - rate * (beta * v + g), params, velocity, grads)
    return new, velocity


# %% exercise="momentum" misconception="starts_at_the_parameters"
"""Your first velocity is the parameters themselves. It should have the structure of the parameters, and only zeros."""
def start(params):
    return params


def momentum_step(params, grads, velocity, rate, beta):
    velocity = jax.tree.map(lambda v, g: beta * v + g, velocity, grads)
    return jax.tree.map(lambda p, v: p - rate * v, params, velocity), velocity


# %% exercise="momentum" misconception="one_number_for_all"
"""Your first velocity is a single 0. It must remember a gradient for every parameter, so it has to be a tree with the structure of `params`. Otherwise a map over both trees fails."""
def start(params):
    return 0.0


def momentum_step(params, grads, velocity, rate, beta):
    velocity = jax.tree.map(lambda v, g: beta * v + g, velocity, grads)
    return jax.tree.map(lambda p, v: p - rate * v, params, velocity), velocity


# %% exercise="momentum" misconception="one_dict_only" section="a-gradient-is-a-tree"
"""Your functions work on one dict of arrays. Parameters may be nested in any way, or be one bare array: use `jax.tree.map`."""
def start(params):
    return {name: jnp.zeros_like(p) for name, p in params.items()}


def momentum_step(params, grads, velocity, rate, beta):
    velocity = {name: beta * velocity[name] + grads[name] for name in params}
    return {name: params[name] - rate * velocity[name] for name in params}, velocity


# %% exercise="momentum" misconception="every_tuple_is_a_pair"
"""Your step is wrong where the parameters hold a tuple or a namedtuple. Perhaps your function returns pairs, and `is_leaf` finds them by asking for a tuple. But the tuples of the tree are tuples too, so your code takes them for pairs."""
def start(params):
    return jax.tree.map(jnp.zeros_like, params)


def momentum_step(params, grads, velocity, rate, beta):
    def update(p, g, v):
        v = beta * v + g
        return p - rate * v, v

    def is_pair(node):
        return isinstance(node, tuple)

    pairs = jax.tree.map(update, params, grads, velocity)
    return tuple(jax.tree.map(lambda pair: pair[at], pairs, is_leaf=is_pair) for at in (0, 1))


# %% exercise="momentum" misconception="zeros_without_the_shape"
"""Your first velocity is right for vectors, and flat for matrices. Perhaps you make zeros by the size of a leaf. A velocity needs the shape of its parameter. Otherwise broadcasting stretches both in a sum."""
def start(params):
    return jax.tree.map(lambda p: jnp.zeros(p.size), params)


def momentum_step(params, grads, velocity, rate, beta):
    velocity = jax.tree.map(lambda v, g: beta * v + g, velocity, grads)
    return jax.tree.map(lambda p, v: p - rate * v, params, velocity), velocity


# %% exercise="momentum" misconception="none_needs_a_zero" section="a-gradient-is-a-tree"
"""Your first velocity has a 0 where `params` has `None`. For JAX, `None` is a node without children. With a leaf in its place, the two trees have different structures, and a map over both fails."""
def start(params):
    return jax.tree.map(
        lambda p: jnp.array(0.0) if p is None else jnp.zeros_like(p),
        params,
        is_leaf=lambda p: p is None,
    )


def momentum_step(params, grads, velocity, rate, beta):
    velocity = jax.tree.map(lambda v, g: beta * v + g, velocity, grads)
    return jax.tree.map(lambda p, v: p - rate * v, params, velocity), velocity


# %% exercise="momentum" equivalent="A list or a tuple: where the prompt does not say, either is right."
# solution: (jax.tree.map(lambda p, v: p - rate * v, params, velocity), velocity) → [jax.tree.map(lambda p, v: p - rate * v, params, velocity), velocity]
# by_flattening: (jax.tree.unflatten(structure, ps), jax.tree.unflatten(structure, vs)) → [jax.tree.unflatten(structure, ps), jax.tree.unflatten(structure, vs)]
# pairs_transposed: (p - rate * v, v) → [p - rate * v, v]
# pairs_transposed: (jax.tree.structure(params), jax.tree.structure((0, 0))) → [jax.tree.structure(params), jax.tree.structure((0, 0))]


# %% exercise="momentum" equivalent="NumPy's zeros become float32 with the first gradient."
# by_flattening: np.zeros(p.shape, p.dtype) → np.zeros(p.shape)


# %% exercise="momentum" equivalent="Only the structure of the pair counts."
# pairs_transposed: (0, 0) → (1, 0)
# pairs_transposed: (0, 0) → (-1, 0)
# pairs_transposed: (0, 0) → (0, 1)
# pairs_transposed: (0, 0) → (0, -1)


# %% exercise="adam" variant="counter_in_an_array"
def adam_start(params):
    return {
        "m": jax.tree.map(jnp.zeros_like, params),
        "v": jax.tree.map(jnp.zeros_like, params),
        "t": jnp.asarray(0),
    }


def adam_step(params, grads, state, rate):
    t = state["t"] + 1
    m = jax.tree.map(lambda m, g: m + 0.1 * (g - m), state["m"], grads)
    v = jax.tree.map(lambda v, g: v + 0.001 * (g * g - v), state["v"], grads)
    scale = rate * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    tiny = 1e-8 * jnp.sqrt(1 - 0.999**t)
    params = jax.tree.map(lambda p, m, v: p - scale * m / (jnp.sqrt(v) + tiny), params, m, v)
    return params, {"m": m, "v": v, "t": t}


# %% exercise="adam" variant="by_flattening"
def adam_start(params):
    zeros = jax.tree.map(lambda p: jnp.zeros(p.shape, p.dtype), params)
    return dict(m=zeros, v=zeros, t=0)


def adam_step(params, grads, state, rate):
    leaves, structure = jax.tree.flatten(params)
    t = state["t"] + 1
    rows = []
    for p, g, m, v in zip(leaves, *map(jax.tree.leaves, (grads, state["m"], state["v"]))):
        m, v = 0.9 * m + (1 - 0.9) * g, 0.999 * v + (1 - 0.999) * jnp.square(g)
        step = (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8)
        rows.append((p - rate * step, m, v))
    params, m, v = (jax.tree.unflatten(structure, column) for column in zip(*rows))
    return params, {"m": m, "v": v, "t": t}


# %% exercise="adam" misconception="no_correction"
"""Your first steps are about three times too long. Perhaps `m` and `v` are used as they are. Both start at 0 and need many steps to reach their true size. `v` needs far more steps than `m`."""
def adam_start(params):
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"m": zeros, "v": zeros, "t": 0}


def adam_step(params, grads, state, rate):
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, state["v"], grads)
    params = jax.tree.map(
        lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), params, m, v
    )
    return params, {"m": m, "v": v, "t": state["t"] + 1}


# %% exercise="adam" misconception="state_changed_in_place"
"""The state that your `adam_step` was given is no longer what it was. Perhaps you write the new `t`, `m` and `v` into its dict. The old state belongs to the caller, who may need it again."""
def adam_start(params):
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"m": zeros, "v": zeros, "t": 0}


def adam_step(params, grads, state, rate):
    state["t"] += 1
    t = state["t"]
    state["m"] = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
    state["v"] = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, state["v"], grads)

    def update(p, m, v):
        m, v = m / (1 - 0.9**t), v / (1 - 0.999**t)
        return p - rate * m / (jnp.sqrt(v) + 1e-8)

    return jax.tree.map(update, params, state["m"], state["v"]), state


# %% exercise="adam" misconception="counts_from_zero"
"""Your first step is `nan`. Perhaps the corrections use the old count. With `t` = 0, `1 - 0.9ᵗ` is 0. Add 1 to the count before you use it."""
def adam_start(params):
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"m": zeros, "v": zeros, "t": 0}


def adam_step(params, grads, state, rate):
    t = jnp.asarray(state["t"], jnp.float32)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, state["v"], grads)

    def update(p, m, v):
        m, v = m / (1 - 0.9**t), v / (1 - 0.999**t)
        return p - rate * m / (jnp.sqrt(v) + 1e-8)

    return jax.tree.map(update, params, m, v), {"m": m, "v": v, "t": state["t"] + 1}


# %% exercise="adam" misconception="the_count_stands_still"
"""Your first step is right, the later steps are too long, and `t` does not grow. So the corrections are those of the first step in every step. Return the new `t` in the state."""
def adam_start(params):
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"m": zeros, "v": zeros, "t": 0}


def adam_step(params, grads, state, rate):
    t = state["t"] + 1
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, state["v"], grads)

    def update(p, m, v):
        m, v = m / (1 - 0.9**t), v / (1 - 0.999**t)
        return p - rate * m / (jnp.sqrt(v) + 1e-8)

    return jax.tree.map(update, params, m, v), {"m": m, "v": v, "t": state["t"]}


# %% exercise="adam" misconception="zero_over_zero"
"""Your parameters become `nan` where the gradient has always been 0: 0 / 0. A small number in the denominator prevents this."""
def adam_start(params):
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"m": zeros, "v": zeros, "t": 0}


def adam_step(params, grads, state, rate):
    t = state["t"] + 1
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, state["v"], grads)

    def update(p, m, v):
        return p - rate * m / (1 - 0.9**t) / jnp.sqrt(v / (1 - 0.999**t))

    return jax.tree.map(update, params, m, v), {"m": m, "v": v, "t": t}


# %% exercise="adam" misconception="small_number_under_the_root"
"""Your steps are too short where gradients are tiny. Perhaps the 1e-8 is added before the root is taken. There it has the effect of a gradient of 0.0001. Add it after the root."""
def adam_start(params):
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"m": zeros, "v": zeros, "t": 0}


def adam_step(params, grads, state, rate):
    t = state["t"] + 1
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, state["v"], grads)

    def update(p, m, v):
        m, v = m / (1 - 0.9**t), v / (1 - 0.999**t)
        return p - rate * m / jnp.sqrt(v + 1e-8)

    return jax.tree.map(update, params, m, v), {"m": m, "v": v, "t": t}


# %% exercise="adam" misconception="no_square"
"""Your `v` can be negative, and then its root is `nan`. `v` has to average the squares of the gradients, and a square is never negative."""
def adam_start(params):
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"m": zeros, "v": zeros, "t": 0}


def adam_step(params, grads, state, rate):
    t = state["t"] + 1
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g, state["v"], grads)

    def update(p, m, v):
        m, v = m / (1 - 0.9**t), v / (1 - 0.999**t)
        return p - rate * m / (jnp.sqrt(v) + 1e-8)

    return jax.tree.map(update, params, m, v), {"m": m, "v": v, "t": t}


# %% exercise="adam" misconception="no_root"
"""Your `m`, `v` and `t` are right, but large gradients give short steps, and small ones long steps. Perhaps you divide by `v` without its root. `v` averages squares, so its size is that of a gradient squared."""
def adam_start(params):
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"m": zeros, "v": zeros, "t": 0}


def adam_step(params, grads, state, rate):
    t = state["t"] + 1
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, state["v"], grads)

    def update(p, m, v):
        m, v = m / (1 - 0.9**t), v / (1 - 0.999**t)
        return p - rate * m / (v + 1e-8)

    return jax.tree.map(update, params, m, v), {"m": m, "v": v, "t": t}


# %% exercise="adam" misconception="the_decays_change_places"
"""Your `m` is too small and your `v` too large: 0.9 and 0.999 have changed places. `m` follows the newest gradients quickly; `v` is a slow average."""
def adam_start(params):
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"m": zeros, "v": zeros, "t": 0}


def adam_step(params, grads, state, rate):
    t = state["t"] + 1
    m = jax.tree.map(lambda m, g: 0.999 * m + 0.001 * g, state["m"], grads)
    v = jax.tree.map(lambda v, g: 0.9 * v + 0.1 * g**2, state["v"], grads)

    def update(p, m, v):
        m, v = m / (1 - 0.999**t), v / (1 - 0.9**t)
        return p - rate * m / (jnp.sqrt(v) + 1e-8)

    return jax.tree.map(update, params, m, v), {"m": m, "v": v, "t": t}


# %% exercise="adam" misconception="keeps_the_corrected_averages"
"""Your first steps from zeros are right, but the `m` and `v` that you return have the correction in them, and the next step corrects them once more. Use the corrected numbers for the new parameters only."""
def adam_start(params):
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"m": zeros, "v": zeros, "t": 0}


def adam_step(params, grads, state, rate):
    t = state["t"] + 1
    m = jax.tree.map(lambda m, g: (0.9 * m + 0.1 * g) / (1 - 0.9**t), state["m"], grads)
    v = jax.tree.map(
        lambda v, g: (0.999 * v + 0.001 * g**2) / (1 - 0.999**t), state["v"], grads
    )
    params = jax.tree.map(
        lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), params, m, v
    )
    return params, {"m": m, "v": v, "t": t}


# %% exercise="adam" misconception="python_if" section="one-jitted-step"
"""Your steps are right, but under `jax.jit` the call fails. Perhaps you use `t` in Python's `if` or `while`. While JAX traces, the count is a tracer without a value."""
def adam_start(params):
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"m": zeros, "v": zeros, "t": 0}


def adam_step(params, grads, state, rate):
    t = state["t"] + 1
    if t > 0:
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
        v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, state["v"], grads)

    def update(p, m, v):
        m, v = m / (1 - 0.9**t), v / (1 - 0.999**t)
        return p - rate * m / (jnp.sqrt(v) + 1e-8)

    return jax.tree.map(update, params, m, v), {"m": m, "v": v, "t": t}


# %% exercise="adam" misconception="counts_every_leaf"
"""Your first leaf is right, the next leaves have the correction of later steps, and `t` grows by the number of leaves. Perhaps you add 1 to `t` inside the map. JAX calls the function of a map once for each leaf."""
def adam_start(params):
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"m": zeros, "v": zeros, "t": 0}


def adam_step(params, grads, state, rate):
    t = state["t"]
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, state["v"], grads)

    def update(p, m, v):
        nonlocal t
        t = t + 1
        m, v = m / (1 - 0.9**t), v / (1 - 0.999**t)
        return p - rate * m / (jnp.sqrt(v) + 1e-8)

    return jax.tree.map(update, params, m, v), {"m": m, "v": v, "t": t}


# %% exercise="adam" misconception="int_of_the_count" section="one-jitted-step"
"""Your steps are right, but under `jax.jit` the call fails. Perhaps `int` makes a Python number of `t`. While JAX traces, the count is a tracer without a value; arithmetic works with it as it is."""
def adam_start(params):
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"m": zeros, "v": zeros, "t": 0}


def adam_step(params, grads, state, rate):
    t = int(state["t"]) + 1
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, state["v"], grads)

    def update(p, m, v):
        m, v = m / (1 - 0.9**t), v / (1 - 0.999**t)
        return p - rate * m / (jnp.sqrt(v) + 1e-8)

    return jax.tree.map(update, params, m, v), {"m": m, "v": v, "t": t}


# %% exercise="adam" equivalent="A list or a tuple: where the prompt does not say, either is right."
# solution: (m / (1 - 0.9 ** t), v / (1 - 0.999 ** t)) → [m / (1 - 0.9 ** t), v / (1 - 0.999 ** t)]
# solution: (jax.tree.map(update, params, m, v), {'m': m, 'v': v, 't': t}) → [jax.tree.map(update, params, m, v), {'m': m, 'v': v, 't': t}]
# counter_in_an_array: (params, {'m': m, 'v': v, 't': t}) → [params, {'m': m, 'v': v, 't': t}]
# by_flattening: (0.9 * m + (1 - 0.9) * g, 0.999 * v + (1 - 0.999) * jnp.square(g)) → [0.9 * m + (1 - 0.9) * g, 0.999 * v + (1 - 0.999) * jnp.square(g)]
# by_flattening: (params, {'m': m, 'v': v, 't': t}) → [params, {'m': m, 'v': v, 't': t}]


# %% exercise="adam" equivalent="The count is a Python int or an array."
# counter_in_an_array: jnp.asarray(0) → 0


# %% exercise="adam" equivalent="Float32 is the dtype that JAX makes zeros of."
# by_flattening: jnp.zeros(p.shape, p.dtype) → jnp.zeros(p.shape)


# %% exercise="freeze" variant="by_entries"
def label_tree(params, frozen):
    listed = [part.split("/") for part in frozen]

    def label(path, leaf):
        names = jax.tree_util.keystr(path, simple=True, separator="/").split("/")
        return "frozen" if any(names[: len(part)] == part for part in listed) else "train"

    return jax.tree.map_with_path(label, params)


def frozen_step(params, grads, labels, rate):
    return jax.tree.map(
        lambda label, p, g: p - rate * g if label == "train" else p, labels, params, grads
    )


# %% exercise="freeze" variant="by_flattening"
def label_tree(params, frozen):
    pairs, structure = jax.tree.flatten_with_path(params)
    labels = []
    for path, _ in pairs:
        ways = {
            jax.tree_util.keystr(path[:end], simple=True, separator="/")
            for end in range(1, len(path) + 1)
        }
        labels.append("frozen" if ways & set(frozen) else "train")
    return jax.tree.unflatten(structure, labels)


def frozen_step(params, grads, labels, rate):
    return jax.tree.map(
        lambda p, g, label: jnp.where(label == "train", p - rate * g, p), params, grads, labels
    )


# %% exercise="freeze" misconception="none_for_train" covers="M25"
"""There is a `None` in your label tree. For JAX, `None` is a node without children. So your label tree has another structure than `params`, and a map over both fails."""
def label_tree(params, frozen):
    def label(path, leaf):
        text = jax.tree_util.keystr(path, simple=True, separator="/") + "/"
        return "frozen" if any(text.startswith(part + "/") for part in frozen) else None

    return jax.tree.map_with_path(label, params)


def frozen_step(params, grads, labels, rate):
    def update(p, g, label):
        return p if label == "frozen" else p - rate * g

    return jax.tree.map(update, params, grads, labels)


# %% exercise="freeze" misconception="labels_through_jit" covers="M25 M24"
"""Your `frozen_step` raises a `TypeError`. Perhaps the labels are an argument of a jitted function. A text is a legal leaf of a tree, but jit takes arrays and numbers only."""
def label_tree(params, frozen):
    def label(path, leaf):
        text = jax.tree_util.keystr(path, simple=True, separator="/") + "/"
        return "frozen" if any(text.startswith(part + "/") for part in frozen) else "train"

    return jax.tree.map_with_path(label, params)


@jax.jit
def frozen_step(params, grads, labels, rate):
    def update(p, g, label):
        return p if label == "frozen" else p - rate * g

    return jax.tree.map(update, params, grads, labels)


# %% exercise="freeze" misconception="zero_times_nan" covers="M25"
"""Your frozen leaves become `nan` where their gradient is. Perhaps you multiply the gradient by a mask of 0 and 1. In floating point, 0 times `nan` or infinity is `nan`."""
def label_tree(params, frozen):
    def label(path, leaf):
        text = jax.tree_util.keystr(path, simple=True, separator="/") + "/"
        return "frozen" if any(text.startswith(part + "/") for part in frozen) else "train"

    return jax.tree.map_with_path(label, params)


def frozen_step(params, grads, labels, rate):
    mask = jax.tree.map(lambda label: float(label == "train"), labels)
    return jax.tree.map(lambda p, g, on: p - rate * on * g, params, grads, mask)


# %% exercise="freeze" misconception="begins_with_the_same_letters"
"""You freeze `body/10` together with `body/1`, or `body2` together with `body`. Two paths may begin with the same letters and name two parts: compare whole entries."""
def label_tree(params, frozen):
    def label(path, leaf):
        text = jax.tree_util.keystr(path, simple=True, separator="/")
        return "frozen" if any(text.startswith(part) for part in frozen) else "train"

    return jax.tree.map_with_path(label, params)


def frozen_step(params, grads, labels, rate):
    def update(p, g, label):
        return p if label == "frozen" else p - rate * g

    return jax.tree.map(update, params, grads, labels)


# %% exercise="freeze" misconception="whole_paths_only" covers="M25"
"""You freeze a leaf whose own path is listed, but not the leaves in a listed part. When the list names a part, all leaves in this part are frozen."""
def label_tree(params, frozen):
    def label(path, leaf):
        text = jax.tree_util.keystr(path, simple=True, separator="/")
        return "frozen" if text in frozen else "train"

    return jax.tree.map_with_path(label, params)


def frozen_step(params, grads, labels, rate):
    def update(p, g, label):
        return p if label == "frozen" else p - rate * g

    return jax.tree.map(update, params, grads, labels)


# %% exercise="freeze" misconception="the_name_at_any_depth"
"""You also freeze a part with the same name inside another part. A listed path starts at the root of the tree: `head` and `body/head` are two places."""
def label_tree(params, frozen):
    def label(path, leaf):
        text = "/" + jax.tree_util.keystr(path, simple=True, separator="/") + "/"
        return "frozen" if any(f"/{part}/" in text for part in frozen) else "train"

    return jax.tree.map_with_path(label, params)


def frozen_step(params, grads, labels, rate):
    def update(p, g, label):
        return p if label == "frozen" else p - rate * g

    return jax.tree.map(update, params, grads, labels)


# %% exercise="freeze" misconception="trains_what_is_frozen"
"""Your step moves the frozen leaves, and does not move the others. Your labels are right, but your step confuses the two labels."""
def label_tree(params, frozen):
    def label(path, leaf):
        text = jax.tree_util.keystr(path, simple=True, separator="/") + "/"
        return "frozen" if any(text.startswith(part + "/") for part in frozen) else "train"

    return jax.tree.map_with_path(label, params)


def frozen_step(params, grads, labels, rate):
    def update(p, g, label):
        return p - rate * g if label == "frozen" else p

    return jax.tree.map(update, params, grads, labels)


# %% exercise="freeze" misconception="a_label_is_true" covers="M25"
"""Nothing moves in your step. Perhaps you write `if label:`. For Python, every text that is not empty is true, `"train"` as well as `"frozen"`. Compare the label with a text."""
def label_tree(params, frozen):
    def label(path, leaf):
        text = jax.tree_util.keystr(path, simple=True, separator="/") + "/"
        return "frozen" if any(text.startswith(part + "/") for part in frozen) else "train"

    return jax.tree.map_with_path(label, params)


def frozen_step(params, grads, labels, rate):
    return jax.tree.map(lambda p, g, label: p if label else p - rate * g, params, grads, labels)


# %% exercise="freeze" misconception="masked_hands_it_on" covers="M25"
"""Your frozen leaves move by their whole gradient. Perhaps you use `optax.masked`: where the mask is False, it hands the gradient on as it is, and does not set it to 0."""
import optax


def label_tree(params, frozen):
    def label(path, leaf):
        text = jax.tree_util.keystr(path, simple=True, separator="/") + "/"
        return "frozen" if any(text.startswith(part + "/") for part in frozen) else "train"

    return jax.tree.map_with_path(label, params)


def frozen_step(params, grads, labels, rate):
    tool = optax.masked(optax.sgd(rate), jax.tree.map(lambda label: label == "train", labels))
    updates, _ = tool.update(grads, tool.init(params))
    return optax.apply_updates(params, updates)


# %% exercise="freeze" misconception="one_label_for_each_part" covers="M25"
"""Your label tree has one label for each part at the top, and it stops there. Such a tree is a prefix of `params`. This task asks for a label in the place of every leaf."""
def label_tree(params, frozen):
    if isinstance(params, dict):
        return {name: "frozen" if name in frozen else "train" for name in params}
    return ["frozen" if str(place) in frozen else "train" for place in range(len(params))]


def frozen_step(params, grads, labels, rate):
    def update(p, g, label):
        return p if label == "frozen" else p - rate * g

    return jax.tree.map(update, params, grads, labels)


# %% exercise="freeze" misconception="brackets_in_the_paths" covers="M25"
"""You freeze no leaf, whatever is listed. Perhaps you compare the list with `keystr(path)`. Without options, `keystr` writes `['body'][0]`. The listed paths have plain entries and slashes."""
def label_tree(params, frozen):
    def label(path, leaf):
        text = jax.tree_util.keystr(path)
        return "frozen" if any(text.startswith(part) for part in frozen) else "train"

    return jax.tree.map_with_path(label, params)


def frozen_step(params, grads, labels, rate):
    def update(p, g, label):
        return p if label == "frozen" else p - rate * g

    return jax.tree.map(update, params, grads, labels)


# %% exercise="freeze" misconception="the_top_decides"
"""You freeze all of `body` when only `body/0` is listed. Perhaps you compare the first entries only. Compare all entries of the listed path."""
def label_tree(params, frozen):
    tops = {part.split("/")[0] for part in frozen}

    def label(path, leaf):
        return "frozen" if jax.tree_util.keystr(path[:1], simple=True) in tops else "train"

    return jax.tree.map_with_path(label, params)


def frozen_step(params, grads, labels, rate):
    def update(p, g, label):
        return p if label == "frozen" else p - rate * g

    return jax.tree.map(update, params, grads, labels)


# %% exercise="freeze" misconception="one_level_down"
"""You freeze the leaves directly in a listed part, and train the deeper leaves. Perhaps you compare the path of a leaf, and the path without its last entry. A listed part may be any number of levels above a leaf."""
def label_tree(params, frozen):
    def label(path, leaf):
        texts = [
            jax.tree_util.keystr(way, simple=True, separator="/") for way in (path, path[:-1])
        ]
        return "frozen" if any(text in frozen for text in texts) else "train"

    return jax.tree.map_with_path(label, params)


def frozen_step(params, grads, labels, rate):
    def update(p, g, label):
        return p if label == "frozen" else p - rate * g

    return jax.tree.map(update, params, grads, labels)


# %% exercise="freeze" equivalent="The root is never listed, and no path is longer than itself."
# by_flattening: range(1, len(path) + 1) → range(0, len(path) + 1)
# by_flattening: range(1, len(path) + 1) → range(-1, len(path) + 1)
# by_flattening: len(path) + 1 → len(path) + 2


# %% exercise="save_and_load" variant="by_flattening"
def names_of(tree):
    pairs = jax.tree.leaves_with_path(tree)
    return [jax.tree_util.keystr(path, simple=True, separator="/") for path, _ in pairs]


def save(file, tree):
    arrays = {name: leaf for name, leaf in zip(names_of(tree), jax.tree.leaves(tree))}
    np.savez(file, **arrays)


def load(file, like):
    arrays = dict(np.load(file))
    leaves = []
    for name, leaf in zip(names_of(like), jax.tree.leaves(like)):
        if arrays[name].shape != np.shape(leaf):
            raise ValueError(f"another shape at {name}")
        leaves.append(jnp.asarray(arrays[name], leaf.dtype))
    return jax.tree.unflatten(jax.tree.structure(like), leaves)


# %% exercise="save_and_load" variant="compressed"
def name_of(path):
    return jax.tree_util.keystr(path, simple=True, separator="/")


def save(file, tree):
    arrays = {}
    for path, leaf in jax.tree.flatten_with_path(tree)[0]:
        arrays[name_of(path)] = np.array(leaf)
    with open(file, "wb") as opened:
        np.savez_compressed(opened, **arrays)


def load(file, like):
    arrays = np.load(file, allow_pickle=False)

    def read(path, leaf):
        array = arrays[name_of(path)]
        if np.shape(array) != np.shape(leaf):
            raise ValueError(name_of(path))
        return array.astype(leaf.dtype)

    return jax.tree_util.tree_map_with_path(read, like)


# %% exercise="save_and_load" misconception="one_by_one" section="save-and-load"
"""The names in your file are not paths, only numbers in a row. So `load` has to go by order alone. Where `like` asks for a part of the tree, it puts an array in the place of another one, and no error tells you."""
def save(file, tree):
    np.savez(file, *(np.asarray(leaf) for leaf in jax.tree.leaves(tree)))


def load(file, like):
    leaves, structure = jax.tree.flatten(like)
    arrays = np.load(file)
    loaded = []
    for place, leaf in enumerate(leaves):
        array = arrays[f"arr_{place}"]
        if array.shape != leaf.shape:
            raise ValueError("another shape")
        loaded.append(jnp.asarray(array, leaf.dtype))
    return jax.tree.unflatten(structure, loaded)


# %% exercise="save_and_load" misconception="names_forgotten_in_load"
"""Your `load` takes the arrays in their order, whatever their names are. This works as long as both trees have the same structure. Otherwise a leaf gets the numbers of another leaf."""
def save(file, tree):
    arrays = {
        jax.tree_util.keystr(path, simple=True, separator="/"): np.asarray(leaf)
        for path, leaf in jax.tree.leaves_with_path(tree)
    }
    np.savez(file, **arrays)


def load(file, like):
    leaves, structure = jax.tree.flatten(like)
    arrays = np.load(file)
    loaded = []
    for leaf, name in zip(leaves, arrays.files):
        if arrays[name].shape != leaf.shape:
            raise ValueError(f"{name} has another shape")
        loaded.append(jnp.asarray(arrays[name], leaf.dtype))
    return jax.tree.unflatten(structure, loaded)


# %% exercise="save_and_load" misconception="an_object_in_the_file"
"""NumPy had to pickle something for your file, perhaps the whole tree. To load a pickle is to run code that its author wrote, so a file from a stranger could do anything."""
def save(file, tree):
    np.savez(file, tree=np.array([jax.tree.map(np.asarray, tree)], object))


def load(file, like):
    tree = np.load(file, allow_pickle=True)["tree"][0]
    found = {
        jax.tree_util.keystr(path, simple=True, separator="/"): leaf
        for path, leaf in jax.tree.leaves_with_path(tree)
    }

    def read(path, leaf):
        array = found[jax.tree_util.keystr(path, simple=True, separator="/")]
        if array.shape != leaf.shape:
            raise ValueError("another shape")
        return jnp.asarray(array, leaf.dtype)

    return jax.tree.map_with_path(read, like)


# %% exercise="save_and_load" misconception="the_last_key_is_enough"
"""Your file has fewer arrays than the tree has leaves. Perhaps the name of an array is only the last key of its path. Every layer has a `w`, so each `w` takes the place of the `w` before."""
def save(file, tree):
    arrays = {
        jax.tree_util.keystr(path[-1:], simple=True): np.asarray(leaf)
        for path, leaf in jax.tree.leaves_with_path(tree)
    }
    np.savez(file, **arrays)


def load(file, like):
    arrays = np.load(file)

    def read(path, leaf):
        array = arrays[jax.tree_util.keystr(path[-1:], simple=True)]
        if array.shape != leaf.shape:
            raise ValueError("another shape")
        return jnp.asarray(array, leaf.dtype)

    return jax.tree.map_with_path(read, like)


# %% exercise="save_and_load" misconception="brackets_in_the_names" section="save-and-load"
"""The names in your file have brackets and quotes: `keystr(path)` writes them. With its options `simple` and `separator`, `keystr` writes plain entries with slashes between them."""
def save(file, tree):
    arrays = {
        jax.tree_util.keystr(path): np.asarray(leaf)
        for path, leaf in jax.tree.leaves_with_path(tree)
    }
    np.savez(file, **arrays)


def load(file, like):
    arrays = np.load(file)

    def read(path, leaf):
        array = arrays[jax.tree_util.keystr(path)]
        if array.shape != leaf.shape:
            raise ValueError("another shape")
        return jnp.asarray(array, leaf.dtype)

    return jax.tree.map_with_path(read, like)


# %% exercise="save_and_load" misconception="everything_is_float32"
"""All your arrays come back as `float32`, also whole numbers and bools. The dtype of a leaf has to come back too, and `float32` does not hold every large whole number."""
def save(file, tree):
    arrays = {
        jax.tree_util.keystr(path, simple=True, separator="/"): np.asarray(leaf, np.float32)
        for path, leaf in jax.tree.leaves_with_path(tree)
    }
    np.savez(file, **arrays)


def load(file, like):
    arrays = np.load(file)

    def read(path, leaf):
        array = arrays[jax.tree_util.keystr(path, simple=True, separator="/")]
        if array.shape != leaf.shape:
            raise ValueError("another shape")
        return jnp.asarray(array)

    return jax.tree.map_with_path(read, like)


# %% exercise="save_and_load" misconception="missing_stays_as_it_is"
"""When a path is not in the file, you keep what `like` has there. The caller gets a tree that looks complete. Some of its numbers were never trained, and no error tells the caller."""
def save(file, tree):
    arrays = {
        jax.tree_util.keystr(path, simple=True, separator="/"): np.asarray(leaf)
        for path, leaf in jax.tree.leaves_with_path(tree)
    }
    np.savez(file, **arrays)


def load(file, like):
    arrays = np.load(file)

    def read(path, leaf):
        name = jax.tree_util.keystr(path, simple=True, separator="/")
        if name not in arrays:
            return leaf
        if arrays[name].shape != leaf.shape:
            raise ValueError("another shape")
        return jnp.asarray(arrays[name], leaf.dtype)

    return jax.tree.map_with_path(read, like)


# %% exercise="save_and_load" misconception="any_shape_will_do"
"""You return an array of another shape than `like` asks for. The mistake then shows far from here, in a matrix product. Where NumPy's broadcasting stretches the shape, it does not show at all."""
def save(file, tree):
    arrays = {
        jax.tree_util.keystr(path, simple=True, separator="/"): np.asarray(leaf)
        for path, leaf in jax.tree.leaves_with_path(tree)
    }
    np.savez(file, **arrays)


def load(file, like):
    arrays = np.load(file)

    def read(path, leaf):
        name = jax.tree_util.keystr(path, simple=True, separator="/")
        return jnp.asarray(arrays[name], leaf.dtype)

    return jax.tree.map_with_path(read, like)


# %% exercise="save_and_load" misconception="bytes_are_numbers"
"""Where `like` has another dtype than the saved leaf, your numbers are nonsense, or `load` fails. Perhaps you use `view`. It keeps the bytes and reads them as another dtype, so they mean other numbers. `astype` converts numbers."""
def save(file, tree):
    arrays = {
        jax.tree_util.keystr(path, simple=True, separator="/"): np.asarray(leaf)
        for path, leaf in jax.tree.leaves_with_path(tree)
    }
    np.savez(file, **arrays)


def load(file, like):
    arrays = np.load(file)

    def read(path, leaf):
        array = arrays[jax.tree_util.keystr(path, simple=True, separator="/")]
        if array.shape != leaf.shape:
            raise ValueError("another shape")
        return jnp.asarray(array.view(leaf.dtype))

    return jax.tree.map_with_path(read, like)


# %% exercise="save_and_load" misconception="the_dtype_of_the_file"
"""Your numbers are right, but some dtypes are not those of `like`. Perhaps you keep the dtype that the file has. `like` decides the dtype."""
def save(file, tree):
    arrays = {
        jax.tree_util.keystr(path, simple=True, separator="/"): np.asarray(leaf)
        for path, leaf in jax.tree.leaves_with_path(tree)
    }
    np.savez(file, **arrays)


def load(file, like):
    arrays = np.load(file)

    def read(path, leaf):
        array = arrays[jax.tree_util.keystr(path, simple=True, separator="/")]
        if array.shape != leaf.shape:
            raise ValueError("another shape")
        return jnp.asarray(array)

    return jax.tree.map_with_path(read, like)


# %% exercise="save_and_load" misconception="half_is_enough"
"""Your numbers lose digits on the way, and large ones become infinite. Perhaps you save all leaves as `float16`. It has three digits and ends at 65,504. NumPy's file format can hold each leaf as it is."""
def save(file, tree):
    arrays = {
        jax.tree_util.keystr(path, simple=True, separator="/"): np.asarray(leaf.astype(jnp.float16))
        for path, leaf in jax.tree.leaves_with_path(tree)
    }
    np.savez(file, **arrays)


def load(file, like):
    arrays = np.load(file)

    def read(path, leaf):
        array = arrays[jax.tree_util.keystr(path, simple=True, separator="/")]
        if array.shape != leaf.shape:
            raise ValueError("another shape")
        return jnp.asarray(array, leaf.dtype)

    return jax.tree.map_with_path(read, like)


# %% exercise="save_and_load" misconception="whole_numbers_through_float32"
"""Your dtypes are right, but large whole numbers lose their last digits on the way. Perhaps you save every leaf as `float32`. It has 24 bits for the digits of a number; `int32` has more."""
def save(file, tree):
    arrays = {
        jax.tree_util.keystr(path, simple=True, separator="/"): np.asarray(leaf, np.float32)
        for path, leaf in jax.tree.leaves_with_path(tree)
    }
    np.savez(file, **arrays)


def load(file, like):
    arrays = np.load(file)

    def read(path, leaf):
        array = arrays[jax.tree_util.keystr(path, simple=True, separator="/")]
        if array.shape != leaf.shape:
            raise ValueError("another shape")
        return jnp.asarray(array, leaf.dtype)

    return jax.tree.map_with_path(read, like)


# %% exercise="save_and_load" misconception="made_to_fit"
"""Your `load` accepts an array of another shape, if it has as many numbers as the leaf of `like`. Perhaps you reshape the array. Then the rows and columns of a matrix mean something else, and no error tells you."""
def save(file, tree):
    arrays = {
        jax.tree_util.keystr(path, simple=True, separator="/"): np.asarray(leaf)
        for path, leaf in jax.tree.leaves_with_path(tree)
    }
    np.savez(file, **arrays)


def load(file, like):
    arrays = np.load(file)

    def read(path, leaf):
        array = arrays[jax.tree_util.keystr(path, simple=True, separator="/")]
        return jnp.asarray(array, leaf.dtype).reshape(leaf.shape)

    return jax.tree.map_with_path(read, like)


# %% exercise="save_and_load" misconception="stretched_to_fit"
"""Your `load` accepts a smaller array, if broadcasting can stretch it to the shape of `like`. Then one number may fill a whole leaf, and no error tells you."""
def save(file, tree):
    arrays = {
        jax.tree_util.keystr(path, simple=True, separator="/"): np.asarray(leaf)
        for path, leaf in jax.tree.leaves_with_path(tree)
    }
    np.savez(file, **arrays)


def load(file, like):
    arrays = np.load(file)

    def read(path, leaf):
        array = arrays[jax.tree_util.keystr(path, simple=True, separator="/")]
        return jnp.broadcast_to(jnp.asarray(array, leaf.dtype), leaf.shape)

    return jax.tree.map_with_path(read, like)


# %% exercise="save_and_load" misconception="nothing_else_in_the_file"
"""Your `load` refuses a file that holds more than `like` asks for. But people often load only the first layers of a trained model: the other arrays do no harm."""
def save(file, tree):
    arrays = {
        jax.tree_util.keystr(path, simple=True, separator="/"): np.asarray(leaf)
        for path, leaf in jax.tree.leaves_with_path(tree)
    }
    np.savez(file, **arrays)


def load(file, like):
    arrays = np.load(file)
    pairs, structure = jax.tree.flatten_with_path(like)
    names = [jax.tree_util.keystr(path, simple=True, separator="/") for path, _ in pairs]
    if sorted(names) != sorted(arrays.files):
        raise KeyError(f"{names}, not {arrays.files}")
    if any(arrays[name].shape != leaf.shape for name, (_, leaf) in zip(names, pairs)):
        raise ValueError("another shape")
    leaves = [jnp.asarray(arrays[name], leaf.dtype) for name, (_, leaf) in zip(names, pairs)]
    return jax.tree.unflatten(structure, leaves)


# %% exercise="save_and_load" equivalent="NumPy does the same of itself."
# solution: np.asarray(leaf) → leaf
# by_flattening: dict(np.load(file)) → np.load(file)
# compressed: np.array(leaf) → leaf
# compressed: np.load(file, allow_pickle=False) → np.load(file)
# compressed: allow_pickle=False → allow_pickle=True


# %% exercise="save_and_load" equivalent="NumPy raises the KeyError itself, with the path."
# solution: if name not in arrays: raise KeyError(name) → nothing
# solution: name not in arrays → False
# solution: raise KeyError(name) → nothing


# %% exercise="save_and_load" equivalent="Only the words of a message."
# solution: {name} → ''
# solution: {arrays[name].shape} → ''
# solution: arrays[name].shape → arrays[name].size, line 27
# solution: {leaf.shape} → ''
# solution: leaf.shape → leaf.size, line 27
# by_flattening: {name} → ''
# compressed: name_of(path) → path, line 19


# %% exercise="deep_forward" variant="scan_over_pairs"
def deep_forward(stacked, x):
    def apply(x, layer):
        w, b = layer
        x = jnp.maximum(jnp.dot(x, w) + b, 0)
        return x, x

    _, every = jax.lax.scan(apply, x, (stacked["w"], stacked["b"]))
    return every[-1], every


# %% exercise="deep_forward" variant="by_fori_loop"
def deep_forward(stacked, x):
    count, size = stacked["b"].shape

    def body(i, carry):
        x, every = carry
        layer = jax.tree.map(lambda leaf: leaf[i], stacked)
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
        return x, every.at[i].set(x)

    return jax.lax.fori_loop(0, count, body, (x, jnp.zeros((count, size))))


# %% exercise="deep_forward" misconception="python_loop"
"""Your numbers are right, but your program grows with each layer. A Python loop runs while JAX traces, and adds its lines to the program in each turn. So a deep network compiles slowly."""
def deep_forward(stacked, x):
    every = []
    for w, b in zip(stacked["w"], stacked["b"]):
        x = jax.nn.relu(x @ w + b)
        every.append(x)
    return x, jnp.stack(every)


# %% exercise="deep_forward" misconception="layers_side_by_side"
"""Each of your layers takes the input `x` itself, as with `jax.vmap`. In a network, each layer takes the output of the layer before."""
def deep_forward(stacked, x):
    every = jax.vmap(lambda layer: jax.nn.relu(x @ layer["w"] + layer["b"]))(stacked)
    return every[-1], every


# %% exercise="deep_forward" misconception="carry_and_rows_change_places"
"""Your two results have changed places. `scan` returns the last carry first, and then the stacked rows."""
def deep_forward(stacked, x):
    def apply(x, layer):
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
        return x, x

    last, every = jax.lax.scan(apply, x, stacked)
    return every, last


# %% exercise="deep_forward" misconception="one_result_from_the_body"
"""Every call raises a `TypeError`. Perhaps the function in your `scan` returns one array. JAX expects a pair: the carry for the next turn, and the row to stack."""
def deep_forward(stacked, x):
    def apply(x, layer):
        return jax.nn.relu(x @ layer["w"] + layer["b"])

    return jax.lax.scan(apply, x, stacked)


# %% exercise="deep_forward" misconception="stacks_the_inputs"
"""Your last output is right, but the rows are one layer late: the first one is `x` itself. Perhaps the function in your `scan` stacks the input of each layer, and not its output."""
def deep_forward(stacked, x):
    def apply(x, layer):
        return jax.nn.relu(x @ layer["w"] + layer["b"]), x

    return jax.lax.scan(apply, x, stacked)


# %% exercise="deep_forward" misconception="stacks_before_relu"
"""Your last output is right, but the rows have negative numbers: you stack the numbers before ReLU."""
def deep_forward(stacked, x):
    def apply(x, layer):
        before = x @ layer["w"] + layer["b"]
        return jax.nn.relu(before), before

    return jax.lax.scan(apply, x, stacked)


# %% exercise="deep_forward" misconception="no_relu"
"""All your results have negative numbers: ReLU is missing. Without ReLU, many linear layers are the same as one linear layer."""
def deep_forward(stacked, x):
    def apply(x, layer):
        x = x @ layer["w"] + layer["b"]
        return x, x

    return jax.lax.scan(apply, x, stacked)


# %% exercise="deep_forward" misconception="last_layer_first"
"""Your network runs from the last layer to the first. With one layer that makes no difference. `scan` begins at row 0, unless you say `reverse=True`."""
def deep_forward(stacked, x):
    def apply(x, layer):
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
        return x, x

    return jax.lax.scan(apply, x, stacked, reverse=True)


# %% exercise="deep_forward" misconception="scans_over_the_input"
"""Every call fails. Perhaps `x` and the layers have changed places in your `scan`. `scan` goes along the first axis of its last argument. Its second argument is the first carry."""
def deep_forward(stacked, x):
    def apply(layer, x):
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
        return x, x

    return jax.lax.scan(apply, stacked, x)


# %% exercise="deep_forward" misconception="relu_for_the_rows_only"
"""Your rows are right for the first layer, but the next layer gets numbers without ReLU. Perhaps your carry has the numbers before ReLU. Here the carry and the row to stack are the same."""
def deep_forward(stacked, x):
    def apply(x, layer):
        before = x @ layer["w"] + layer["b"]
        return before, jax.nn.relu(before)

    last, every = jax.lax.scan(apply, x, stacked)
    return jax.nn.relu(last), every


# %% exercise="deep_forward" misconception="weights_first" section="forward-and-vmap"
"""You multiply with the matrix on the left, `w @ x`. A square matrix raises no error there and gives other numbers: here the rows of `w` belong to the inputs."""
def deep_forward(stacked, x):
    def apply(x, layer):
        x = jax.nn.relu(layer["w"] @ x + layer["b"])
        return x, x

    return jax.lax.scan(apply, x, stacked)


# %% exercise="deep_forward" misconception="bias_after_relu" section="forward-and-vmap"
"""Your outputs can be negative, because you add the bias after ReLU. Add the bias before ReLU: `relu(x @ w + b)`."""
def deep_forward(stacked, x):
    def apply(x, layer):
        x = jax.nn.relu(x @ layer["w"]) + layer["b"]
        return x, x

    return jax.lax.scan(apply, x, stacked)


# %% exercise="deep_forward" misconception="no_relu_at_the_end"
"""Your last layer has no ReLU, as in a network whose outputs are logits. Here every layer computes the same, also the last one."""
def deep_forward(stacked, x):
    def apply(x, layer):
        before = x @ layer["w"] + layer["b"]
        return jax.nn.relu(before), before

    _, every = jax.lax.scan(apply, x, stacked)
    return every[-1], jnp.concatenate([jax.nn.relu(every[:-1]), every[-1:]])


# %% exercise="deep_forward" equivalent="A list or a tuple: where the prompt does not say, either is right."
# solution: (x, x) → [x, x]
# scan_over_pairs: (x, x) → [x, x]
# scan_over_pairs: (every[-1], every) → [every[-1], every]


# %% exercise="deep_forward" equivalent="The larger one of two numbers is the same, either way."
# scan_over_pairs: jnp.maximum(jnp.dot(x, w) + b, 0) → jnp.maximum(0, jnp.dot(x, w) + b)


# %% exercise="deep_forward" equivalent="Every row is written."
# by_fori_loop: jnp.zeros → jnp.ones


# %% exercise="moving_average" starter=True
def average_start(params):
    """Return the average at the start: the parameters, floating-point leaves in float32."""
    return params


def average_step(average, params, decay):
    """Return the average after one more step of training gave `params`."""

    def update(a, p):
        return (decay * a + (1 - decay) * p).astype(a.dtype)

    return jax.tree.map(update, average, params)


# %% exercise="moving_average" variant="towards_the_new"
def average_start(params):
    def begin(p):
        return p if p.dtype == jnp.int32 else jnp.asarray(p, jnp.float32)

    return jax.tree.map(begin, params)


def average_step(average, params, decay):
    def update(a, p):
        if a.dtype == jnp.int32:
            return p
        return a + (1 - decay) * (p - a)

    return jax.tree.map(update, average, params)


# %% exercise="moving_average" variant="by_numpy"
def average_start(params):
    return jax.tree.map(
        lambda p: p if np.asarray(p).dtype.kind == "i" else np.asarray(p).astype(np.float32), params
    )


def average_step(average, params, decay):
    def update(a, p):
        if np.asarray(p).dtype.kind == "i":
            return p
        return np.float32(decay) * a + np.float32(1 - decay) * np.asarray(p).astype(np.float32)

    return jax.tree.map(update, average, params)


# %% exercise="moving_average" misconception="as_it_was_found"
"""Your functions give the same results as the functions that you found. A `bfloat16` number has about three digits. So a small step towards the new value is lost in rounding, every time. And the functions average whole numbers."""
def average_start(params):
    return params


def average_step(average, params, decay):
    return jax.tree.map(
        lambda a, p: (decay * a + (1 - decay) * p).astype(a.dtype), average, params
    )


# %% exercise="moving_average" misconception="rounded_between_the_steps"
"""Your average starts in float32, but after a step its leaf is `bfloat16` again. Perhaps you cast it to the dtype of the new parameter. Then each step is rounded to `bfloat16`, and small steps are lost."""
def average_start(params):
    def is_float(p):
        return jnp.issubdtype(p.dtype, jnp.floating)

    return jax.tree.map(lambda p: p.astype(jnp.float32) if is_float(p) else p, params)


def average_step(average, params, decay):
    def update(a, p):
        if not jnp.issubdtype(p.dtype, jnp.floating):
            return p
        return (decay * a + (1 - decay) * p).astype(p.dtype)

    return jax.tree.map(update, average, params)


# %% exercise="moving_average" misconception="numpy_knows_bfloat16"
"""Your `float32` leaves are averaged, and your `bfloat16` leaves are treated like whole numbers. Perhaps you ask `np.issubdtype`. NumPy does not know that `bfloat16` is floating-point; `jnp.issubdtype` does."""
def average_start(params):
    def is_float(p):
        return np.issubdtype(p.dtype, np.floating)

    return jax.tree.map(lambda p: p.astype(jnp.float32) if is_float(p) else p, params)


def average_step(average, params, decay):
    def update(a, p):
        is_float = np.issubdtype(p.dtype, np.floating)
        return decay * a + (1 - decay) * p if is_float else p

    return jax.tree.map(update, average, params)


# %% exercise="moving_average" misconception="averages_the_counter" section="parameters-are-data" covers="M24"
"""Your floating-point leaves are right, but the counter is averaged as well and becomes a float. For JAX, a whole number is a leaf like any other leaf. Your function has to treat it in another way."""
def average_start(params):
    def is_float(p):
        return jnp.issubdtype(p.dtype, jnp.floating)

    return jax.tree.map(lambda p: p.astype(jnp.float32) if is_float(p) else p, params)


def average_step(average, params, decay):
    return jax.tree.map(lambda a, p: decay * a + (1 - decay) * p, average, params)


# %% exercise="moving_average" misconception="cuts_the_counter" section="parameters-are-data" covers="M24"
"""Your floating-point leaves are right, but the counter lags behind. Perhaps it is averaged, and then cut to a whole number again. A count is no parameter: copy the newest count."""
def average_start(params):
    def is_float(p):
        return jnp.issubdtype(p.dtype, jnp.floating)

    return jax.tree.map(lambda p: p.astype(jnp.float32) if is_float(p) else p, params)


def average_step(average, params, decay):
    return jax.tree.map(
        lambda a, p: (decay * a + (1 - decay) * p).astype(a.dtype), average, params
    )


# %% exercise="moving_average" misconception="keeps_the_first_counter" section="parameters-are-data"
"""Your counter stays at its first value. It is right not to average this leaf. But its number must come from the new parameters."""
def average_start(params):
    def is_float(p):
        return jnp.issubdtype(p.dtype, jnp.floating)

    return jax.tree.map(lambda p: p.astype(jnp.float32) if is_float(p) else p, params)


def average_step(average, params, decay):
    def update(a, p):
        if not jnp.issubdtype(p.dtype, jnp.floating):
            return a
        return decay * a + (1 - decay) * p.astype(jnp.float32)

    return jax.tree.map(update, average, params)


# %% exercise="moving_average" misconception="decay_on_the_new"
"""Your average follows the newest parameters closely where it should move little. `decay` is the share of the old average, and `1 - decay` is the share of the new parameters."""
def average_start(params):
    def is_float(p):
        return jnp.issubdtype(p.dtype, jnp.floating)

    return jax.tree.map(lambda p: p.astype(jnp.float32) if is_float(p) else p, params)


def average_step(average, params, decay):
    def update(a, p):
        if not jnp.issubdtype(p.dtype, jnp.floating):
            return p
        return (1 - decay) * a + decay * p.astype(jnp.float32)

    return jax.tree.map(update, average, params)


# %% exercise="moving_average" misconception="starts_at_zero"
"""Your average starts at 0. It then needs many steps to come near the parameters, and until then it is far too small. Start at the parameters."""
def average_start(params):
    def begin(p):
        is_float = jnp.issubdtype(p.dtype, jnp.floating)
        return jnp.zeros(p.shape, jnp.float32) if is_float else p

    return jax.tree.map(begin, params)


def average_step(average, params, decay):
    def update(a, p):
        if not jnp.issubdtype(p.dtype, jnp.floating):
            return p
        return decay * a + (1 - decay) * p.astype(jnp.float32)

    return jax.tree.map(update, average, params)


# %% exercise="moving_average" misconception="every_leaf_is_float32"
"""Your whole numbers become `float32` from the start on. Perhaps you cast every leaf, or you compare the dtype with Python's `int`, which means `int64`. `float32` does not hold every large count."""
def average_start(params):
    return jax.tree.map(lambda p: p.astype(jnp.float32), params)


def average_step(average, params, decay):
    return jax.tree.map(
        lambda a, p: decay * a + (1 - decay) * p.astype(jnp.float32), average, params
    )


# %% exercise="moving_average" misconception="multiplied_before_it_is_cast"
"""Your averages of `bfloat16` leaves are float32, but only about three of their digits are right. Perhaps you multiply the parameter before you cast it. A Python number does not change the dtype of an array, so the product is rounded to `bfloat16`."""
def average_start(params):
    def is_float(p):
        return jnp.issubdtype(p.dtype, jnp.floating)

    return jax.tree.map(lambda p: p.astype(jnp.float32) if is_float(p) else p, params)


def average_step(average, params, decay):
    def update(a, p):
        if not jnp.issubdtype(p.dtype, jnp.floating):
            return p
        return decay * a + ((1 - decay) * p).astype(jnp.float32)

    return jax.tree.map(update, average, params)


# %% exercise="moving_average" equivalent="No leaf is complex."
# solution: jnp.floating → jnp.inexact


# %% exercise="moving_average" equivalent="NumPy and JAX compute alike here, also with a Python number."
# by_numpy: np.asarray(p) → p, line 3
# by_numpy: np.asarray(p) → p, line 3, 2
# by_numpy: np.asarray(p) → p, line 9
# by_numpy: np.float32(decay) → decay
# by_numpy: np.float32(1 - decay) → 1 - decay
# by_numpy: np.asarray(p).astype(np.float32) → np.asarray(p), line 11
# by_numpy: np.asarray(p) → p, line 11


# %% exercise="resume" variant="by_position"
def plain(state):
    return {**state, "key": jax.random.key_data(state["key"])}


def save_state(file, state):
    np.savez(file, *[np.asarray(leaf) for leaf in jax.tree.leaves(plain(state))])


def load_state(file, like):
    structure = jax.tree.structure(plain(like))
    arrays = np.load(file)
    leaves = [jnp.asarray(arrays[f"arr_{at}"]) for at in range(structure.num_leaves)]
    state = jax.tree.unflatten(structure, leaves)
    state["step"] = int(state["step"])
    state["key"] = jax.random.wrap_key_data(state["key"])
    return state


# %% exercise="resume" variant="entry_by_entry"
def save_state(file, state):
    arrays = {"step": state["step"], "key": jax.random.key_data(state["key"])}
    for entry in ["params", "optimiser"]:
        for place, leaf in enumerate(jax.tree.leaves(state[entry])):
            arrays[f"{entry} {place}"] = leaf
    np.savez(file, **arrays)


def load_state(file, like):
    arrays = np.load(file)
    state = {"step": arrays["step"].item(), "key": jax.random.wrap_key_data(arrays["key"])}
    for entry in ["params", "optimiser"]:
        leaves, structure = jax.tree.flatten(like[entry])
        loaded = [jnp.asarray(arrays[f"{entry} {place}"]) for place in range(len(leaves))]
        state[entry] = jax.tree.unflatten(structure, loaded)
    return state


# %% exercise="resume" variant="by_the_kind_of_leaf"
def is_key(leaf):
    return isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def save_state(file, state):
    arrays = {}
    for path, leaf in jax.tree.leaves_with_path(state):
        array = jax.random.key_data(leaf) if is_key(leaf) else leaf
        arrays[jax.tree_util.keystr(path, simple=True, separator="/")] = np.asarray(array)
    np.savez_compressed(file, **arrays)


def load_state(file, like):
    arrays = np.load(file, allow_pickle=False)

    def read(path, leaf):
        array = arrays[jax.tree_util.keystr(path, simple=True, separator="/")]
        if isinstance(leaf, int):
            return int(array)
        return jax.random.wrap_key_data(array) if is_key(leaf) else jnp.asarray(array)

    return jax.tree.map_with_path(read, like)


# %% exercise="resume" misconception="the_key_is_not_saved" section="a-key-for-each-layer"
"""The parameters come back, and then training goes other ways. Your state has the key of `like`. The next steps draw other random numbers than they would have drawn without the stop. The key belongs to the state, as the parameters do."""
def save_state(file, state):
    plain = {**state, "key": jax.random.key_data(state["key"])}
    leaves = jax.tree.leaves_with_path(plain)
    np.savez(file, **{jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves})


def load_state(file, like):
    plain = {**like, "key": jax.random.key_data(like["key"])}
    arrays = np.load(file)

    def read(path, leaf):
        return jnp.asarray(arrays[jax.tree_util.keystr(path)])

    state = jax.tree.map_with_path(read, plain)
    return {**state, "step": int(state["step"]), "key": like["key"]}


# %% exercise="resume" misconception="the_step_starts_again"
"""Your state has the step of `like`, so the number of steps starts again. Everything that depends on this number, such as a learning rate that becomes smaller, starts again too. The step belongs to the state."""
def save_state(file, state):
    plain = {**state, "key": jax.random.key_data(state["key"])}
    leaves = jax.tree.leaves_with_path(plain)
    np.savez(file, **{jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves})


def load_state(file, like):
    plain = {**like, "key": jax.random.key_data(like["key"])}
    arrays = np.load(file)

    def read(path, leaf):
        return jnp.asarray(arrays[jax.tree_util.keystr(path)])

    state = jax.tree.map_with_path(read, plain)
    key = jax.random.wrap_key_data(state["key"])
    return {**state, "step": like["step"], "key": key}


# %% exercise="resume" misconception="the_optimiser_starts_again" section="an-optimiser-is-a-function-on-trees"
"""The parameters are right, and the first step after loading is not. Your state has the optimiser state of `like`, so the optimiser has forgotten the gradients before the stop. Without its velocity, momentum has to start from zero."""
def save_state(file, state):
    plain = {**state, "key": jax.random.key_data(state["key"])}
    leaves = jax.tree.leaves_with_path(plain)
    np.savez(file, **{jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves})


def load_state(file, like):
    plain = {**like, "key": jax.random.key_data(like["key"])}
    arrays = np.load(file)

    def read(path, leaf):
        return jnp.asarray(arrays[jax.tree_util.keystr(path)])

    state = jax.tree.map_with_path(read, plain)
    key = jax.random.wrap_key_data(state["key"])
    optimiser = like["optimiser"]
    return {**state, "optimiser": optimiser, "step": int(state["step"]), "key": key}


# %% exercise="resume" misconception="a_key_is_an_array_of_numbers"
"""All numbers are right, but your key comes back as an array of plain numbers, of dtype `uint32`. The functions of `jax.random` accept such an array, so nothing complains. But it is no key array: `jit` sees another dtype, and traces again. `jax.random.wrap_key_data` makes a key array of the numbers."""
def save_state(file, state):
    plain = {**state, "key": jax.random.key_data(state["key"])}
    leaves = jax.tree.leaves_with_path(plain)
    np.savez(file, **{jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves})


def load_state(file, like):
    plain = {**like, "key": jax.random.key_data(like["key"])}
    arrays = np.load(file)

    def read(path, leaf):
        return jnp.asarray(arrays[jax.tree_util.keystr(path)])

    state = jax.tree.map_with_path(read, plain)
    return {**state, "step": int(state["step"])}


# %% exercise="resume" misconception="a_key_is_its_seed" section="a-key-for-each-layer"
"""Your key is right where it was made by `jax.random.key(seed)`, and wrong where `jax.random.split` made it. Perhaps you save one number of the key as its seed. A key has two numbers, and after a split the first one is not 0."""
def save_state(file, state):
    plain = {**state, "key": jax.random.key_data(state["key"])[-1]}
    leaves = jax.tree.leaves_with_path(plain)
    np.savez(file, **{jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves})


def load_state(file, like):
    arrays = np.load(file)

    def read(path, leaf):
        return jnp.asarray(arrays[jax.tree_util.keystr(path)])

    state = jax.tree.map_with_path(read, {**like, "key": 0})
    key = jax.random.key(int(state["key"]))
    return {**state, "step": int(state["step"]), "key": key}


# %% exercise="resume" misconception="numpy_takes_every_leaf"
"""Your `save_state` fails. NumPy cannot make an array of a key array: JAX raises a `TypeError` that names `jax.random.key_data`. This function gives you the numbers of the key, and numbers can be saved."""
def save_state(file, state):
    leaves = jax.tree.leaves_with_path(state)
    np.savez(file, **{jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves})


def load_state(file, like):
    arrays = np.load(file)

    def read(path, leaf):
        return jnp.asarray(arrays[jax.tree_util.keystr(path)])

    return jax.tree.map_with_path(read, like)


# %% exercise="resume" misconception="the_step_is_an_array"
"""Your step comes back as an array; it was a Python int. Its number is right, so no error tells you. But for `jit` an `int32` array is another type than a Python int, so `jit` traces again. `int(array)` makes a Python int."""
def save_state(file, state):
    plain = {**state, "key": jax.random.key_data(state["key"])}
    leaves = jax.tree.leaves_with_path(plain)
    np.savez(file, **{jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves})


def load_state(file, like):
    plain = {**like, "key": jax.random.key_data(like["key"])}
    arrays = np.load(file)

    def read(path, leaf):
        return jnp.asarray(arrays[jax.tree_util.keystr(path)])

    state = jax.tree.map_with_path(read, plain)
    return {**state, "key": jax.random.wrap_key_data(state["key"])}


# %% exercise="resume" misconception="everything_is_float32"
"""Your whole numbers come back as `float32`, and large ones lose their last digits. A dtype is part of the state: a counter of the optimiser is `int32`, and has to stay `int32`."""
def save_state(file, state):
    plain = {**state, "key": jax.random.key_data(state["key"])}
    leaves = jax.tree.leaves_with_path(plain)
    np.savez(file, **{jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves})


def load_state(file, like):
    trees = {"params": like["params"], "optimiser": like["optimiser"]}
    arrays = np.load(file)

    def read(path, leaf):
        return jnp.asarray(arrays[jax.tree_util.keystr(path)], jnp.float32)

    key = jax.random.wrap_key_data(arrays["['key']"])
    state = jax.tree.map_with_path(read, trees)
    return {**state, "step": int(arrays["['step']"]), "key": key}


# %% exercise="resume" misconception="names_in_sorted_order"
"""Your state is right for a few layers; with more than ten, leaves change places. Perhaps you sort the names in the file. As texts, `10` comes before `2`. Shapes and dtypes fit, so no error tells you. Ask the file for each leaf by its own name."""
def flat(state):
    plain = {**state, "key": jax.random.key_data(state["key"])}
    return jax.tree.flatten(plain)


def save_state(file, state):
    leaves, structure = flat(state)
    np.savez(file, **{f"leaf{at}": np.asarray(leaf) for at, leaf in enumerate(leaves)})


def load_state(file, like):
    leaves, structure = flat(like)
    arrays = np.load(file)
    leaves = [jnp.asarray(arrays[name]) for name in sorted(arrays.files)]
    state = jax.tree.unflatten(structure, leaves)
    return {
        **state,
        "step": int(state["step"]),
        "key": jax.random.wrap_key_data(state["key"]),
    }


# %% exercise="resume" misconception="writes_into_the_state"
"""The state that you were given has changed: its key is an array of plain numbers now. Perhaps you write `state["key"] = ...` into the caller's dict. The caller goes on training with this dict after it was saved. Make a new dict for the file."""
def save_state(file, state):
    state["key"] = jax.random.key_data(state["key"])
    leaves = jax.tree.leaves_with_path(state)
    np.savez(file, **{jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves})


def load_state(file, like):
    plain = {**like, "key": jax.random.key_data(like["key"])}
    arrays = np.load(file)

    def read(path, leaf):
        return jnp.asarray(arrays[jax.tree_util.keystr(path)])

    state = jax.tree.map_with_path(read, plain)
    key = jax.random.wrap_key_data(state["key"])
    return {**state, "step": int(state["step"]), "key": key}


# %% exercise="resume" misconception="kept_in_a_variable"
"""Your state is right as long as the state that was saved last is loaded. Otherwise its numbers, or its structure, are those of another state. Perhaps `save_state` puts something into a variable, and `load_state` takes it from there. A new process does not have this variable: all that it needs is in the file or in `like`."""
kept = {}


def save_state(file, state):
    kept["structure"] = jax.tree.structure(state)
    kept["key"] = state["key"]
    leaves = jax.tree.leaves({**state, "key": 0})
    np.savez(file, *[np.asarray(leaf) for leaf in leaves])


def load_state(file, like):
    arrays = np.load(file)
    leaves = [jnp.asarray(arrays[name]) for name in arrays.files]
    state = jax.tree.unflatten(kept["structure"], leaves)
    return {**state, "step": int(state["step"]), "key": kept["key"]}


# %% exercise="resume" misconception="the_structure_is_pickled"
"""Something in your file was pickled, perhaps the structure of the state. To load a pickle is to run what its author wrote into it, and another version of JAX may not read it. The file needs no structure: `like` has it."""
def save_state(file, state):
    plain = {**state, "key": jax.random.key_data(state["key"])}
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(plain)]
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree.leaves_with_path(plain)]
    np.savez(file, *leaves, paths=np.array(paths, object))


def load_state(file, like):
    plain = {**like, "key": jax.random.key_data(like["key"])}
    arrays = np.load(file, allow_pickle=True)
    leaves = [jnp.asarray(arrays[f"arr_{at}"]) for at in range(len(arrays["paths"]))]
    state = jax.tree.unflatten(jax.tree.structure(plain), leaves)
    key = jax.random.wrap_key_data(state["key"])
    return {**state, "step": int(state["step"]), "key": key}


# %% exercise="resume" misconception="dicts_made_of_names"
"""Your trees have another structure than `like`: lists, tuples and other nodes have become dicts. Perhaps you build the trees from the names in the file. Names do not tell a list from a dict, and `None` and empty containers have no name. Take the structure of `like`."""
def save_state(file, state):
    plain = {**state, "key": jax.random.key_data(state["key"])}
    leaves = jax.tree.leaves_with_path(plain)
    names = [jax.tree_util.keystr(path, simple=True, separator="/") for path, _ in leaves]
    np.savez(file, **{name: np.asarray(leaf) for name, (_, leaf) in zip(names, leaves)})


def load_state(file, like):
    state = {"params": {}, "optimiser": {}}
    arrays = np.load(file)
    for name in arrays.files:
        *parts, last = name.split("/")
        place = state
        for part in parts:
            place = place.setdefault(part, {})
        place[last] = jnp.asarray(arrays[name])
    key = jax.random.wrap_key_data(state["key"])
    return {**state, "step": int(state["step"]), "key": key}


# %% exercise="resume" equivalent="NumPy does the same of itself."
# solution: np.asarray(leaf) → leaf
# by_position: np.asarray(leaf) → leaf
# by_the_kind_of_leaf: np.asarray(array) → array
# by_the_kind_of_leaf: np.load(file, allow_pickle=False) → np.load(file)
# by_the_kind_of_leaf: allow_pickle=False → allow_pickle=True


# %% exercise="resume" equivalent="JAX's arrays or NumPy's: the prompt allows either."
# solution: jnp.asarray(arrays[jax.tree_util.keystr(path)]) → arrays[jax.tree_util.keystr(path)]
# by_position: jnp.asarray(arrays[f'arr_{at}']) → arrays[f'arr_{at}']
# entry_by_entry: jnp.asarray(arrays[f'{entry} {place}']) → arrays[f'{entry} {place}']
# by_the_kind_of_leaf: jnp.asarray(array) → array


# %% exercise="resume" equivalent="A key array of one key is one leaf, as its numbers are."
# by_position: plain(like) → like


# %% exercise="resume" equivalent="The step is an int, and no bool."
# by_the_kind_of_leaf: isinstance(leaf, int) → type(leaf) is int
