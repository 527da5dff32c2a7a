# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% exercise="loss_of_one" variant="by_logsumexp"
def loss_of_one(params, x, label):
    scores = mlp(params, x)
    return jax.nn.logsumexp(scores) - scores[label]


# %% exercise="loss_of_one" variant="by_one_hot"
def loss_of_one(params, x, label):
    logs = jax.nn.log_softmax(mlp(params, x))
    return -jnp.sum(jax.nn.one_hot(label, 10) * logs)


# %% exercise="loss_of_one" misconception="without_the_minus" changes="solution"
"""Your losses have the wrong sign. The logarithm of a probability is never positive, and a loss is to become small: put a minus before it."""
-    return -jax.nn.log_softmax(mlp(params, x))[label]
+    return jax.nn.log_softmax(mlp(params, x))[label]


# %% exercise="loss_of_one" misconception="a_batch_of_one" changes="solution"
"""Your loss is an array of one number, for a batch of one picture. `mlp` works for one picture too: leave `x` as it is, and the loss is a single number."""
-    return -jax.nn.log_softmax(mlp(params, x))[label]
+    return -jax.nn.log_softmax(mlp(params, x[None]))[:, label]


# %% exercise="loss_of_one" misconception="the_probability_itself" changes="solution"
"""Your loss is minus the probability of the right digit, without a logarithm: it lies between -1 and 0. `jax.nn.softmax` returns probabilities, `jax.nn.log_softmax` their logarithms."""
-    return -jax.nn.log_softmax(mlp(params, x))[label]
+    return -jax.nn.softmax(mlp(params, x))[label]


# %% exercise="loss_of_one" misconception="the_score_itself" changes="solution"
"""Your loss is minus the score of the right digit. A score is not a logarithm of a probability yet: it says nothing without the nine others."""
-    return -jax.nn.log_softmax(mlp(params, x))[label]
+    return -mlp(params, x)[label]


# %% exercise="loss_of_one" misconception="the_mean_of_all_ten" changes="solution"
"""Your loss is the mean over all ten digits, so the label does not matter. Only the logarithm for the right digit counts."""
-    return -jax.nn.log_softmax(mlp(params, x))[label]
+    return -jax.nn.log_softmax(mlp(params, x)).mean()


# %% exercise="loss_of_one" misconception="the_likeliest_digit" changes="solution"
"""Your loss is that of the digit with the highest score, whatever the label is. A network that is sure and wrong must have a large loss."""
-    return -jax.nn.log_softmax(mlp(params, x))[label]
+    return -jax.nn.log_softmax(mlp(params, x)).max()


# %% exercise="loss_of_one" misconception="all_ten_losses" changes="solution"
"""You return ten numbers, one for each digit. The loss is a single number: the one that belongs to the label."""
-    return -jax.nn.log_softmax(mlp(params, x))[label]
+    return -jax.nn.log_softmax(mlp(params, x))


# %% exercise="loss_of_one" misconception="digits_start_at_one" changes="solution"
"""You take the number before the right one. The ten digits start at 0, as Python's indices do: the digit 3 is at index 3."""
-    return -jax.nn.log_softmax(mlp(params, x))[label]
+    return -jax.nn.log_softmax(mlp(params, x))[label - 1]


# %% exercise="loss_of_one" misconception="logarithm_to_base_ten" changes="solution"
"""Your losses are 2.3 times too small: they have the logarithm to base 10. The loss has the natural one."""
-    return -jax.nn.log_softmax(mlp(params, x))[label]
+    return -jnp.log10(jax.nn.softmax(mlp(params, x))[label])


# %% exercise="loss_of_one" misconception="a_share_of_the_scores" changes="solution"
"""You divide the score by the sum of all scores. A score may be negative, and then so may this share. Softmax divides `exp(score)` by the sum of all ten: `jax.nn.log_softmax` does so, and takes the logarithm."""
-    return -jax.nn.log_softmax(mlp(params, x))[label]
+    scores = mlp(params, x)
+    return -jnp.log(scores[label] / scores.sum())


# %% exercise="loss_of_one" misconception="the_loss_of_a_batch" changes="solution"
"""Every call raises a `ValueError`: a sum over axis 1, as in `loss`, where the scores of one picture have only axis 0. Write the loss of one picture with `mlp` and `jax.nn.log_softmax`."""
-    return -jax.nn.log_softmax(mlp(params, x))[label]
+    return loss(params, x, label)


# %% exercise="loss_of_one" misconception="the_logarithm_of_a_score" changes="solution"
"""Your loss is minus the logarithm of a score, and `nan` where the score is negative. A score is no probability: softmax makes probabilities of all ten scores, and `jax.nn.log_softmax` returns their logarithms."""
-    return -jax.nn.log_softmax(mlp(params, x))[label]
+    return -jnp.log(mlp(params, x)[label])


# %% exercise="loss_of_one" misconception="the_mean_of_a_table" changes="solution"
"""Your loss is ten times too small: it is a mean over ten numbers, of which nine are 0. Take the one number that belongs to the label, or the sum."""
-    return -jax.nn.log_softmax(mlp(params, x))[label]
+    logs = jax.nn.log_softmax(mlp(params, x))
+    return -(jax.nn.one_hot(label, 10) * logs).mean()


# %% exercise="loss_of_one" misconception="the_sum_of_all_ten" changes="solution"
"""Your loss is the sum over all ten digits, so the label does not matter. Only the logarithm for the right digit counts."""
-    return -jax.nn.log_softmax(mlp(params, x))[label]
+    return -jax.nn.log_softmax(mlp(params, x)).sum()


# %% exercise="loss_of_one" misconception="the_logarithm_twice" changes="solution"
"""Your loss is `nan`: `jax.nn.log_softmax` returns logarithms already. They are negative, and a negative number has no logarithm."""
-    return -jax.nn.log_softmax(mlp(params, x))[label]
+    return -jnp.log(jax.nn.log_softmax(mlp(params, x)))[label]


# %% exercise="loss_of_one" misconception="the_label_as_a_factor" changes="solution"
"""You multiply the logarithms by the label, as if it were a vector of 0 and 1. The label is a digit: it says which of the ten logarithms counts."""
-    return -jax.nn.log_softmax(mlp(params, x))[label]
+    return -(label * jax.nn.log_softmax(mlp(params, x))).sum()


# %% exercise="loss_of_one" misconception="one_minus_the_probability" changes="solution"
"""Your loss is 1 minus the probability of the right digit, so it is never above 1. The cross-entropy is minus the logarithm of this probability."""
-    return -jax.nn.log_softmax(mlp(params, x))[label]
+    return 1 - jax.nn.softmax(mlp(params, x))[label]


# %% exercise="loss_of_one" misconception="softmax_twice" changes="solution"
"""Your loss has softmax in it twice: it stays between 1.4 and 2.5, however wrong the network is. `jax.nn.log_softmax` takes scores, not probabilities."""
-    return -jax.nn.log_softmax(mlp(params, x))[label]
+    return -jax.nn.log_softmax(jax.nn.softmax(mlp(params, x)))[label]


# %% exercise="loss_of_one" misconception="nine_zeros" changes="solution"
"""You return ten numbers, of which nine are 0. The loss is a single number: their sum."""
-    return -jax.nn.log_softmax(mlp(params, x))[label]
+    logs = jax.nn.log_softmax(mlp(params, x))
+    return -jax.nn.one_hot(label, 10) * logs


# %% exercise="step" variant="gradient_and_loss_apart"
def step(params, batch, rate):
    x, labels = batch
    before, grads = loss(params, x, labels), jax.grad(loss)(params, x, labels)
    return jax.tree.map(lambda p, g: p + (-rate) * g, params, grads), before


# %% exercise="step" variant="leaf_by_leaf"
@jax.jit
def step(params, batch, rate):
    value, grads = jax.value_and_grad(loss)(params, batch[0], batch[1])
    leaves, structure = jax.tree.flatten(params)
    moved = [leaf - rate * g for leaf, g in zip(leaves, jax.tree.leaves(grads))]
    return jax.tree.unflatten(structure, moved), value


# %% exercise="step" misconception="uphill" changes="solution"
"""Your parameters move the wrong way. The gradient says where the loss grows, so a step downhill subtracts it."""
-    new = jax.tree.map(lambda p, g: p - rate * g, params, grads)
+    new = jax.tree.map(lambda p, g: p + rate * g, params, grads)


# %% exercise="step" misconception="loss_after_the_step" changes="solution"
"""Your parameters are right, but your loss is the one after the step. The loss at the old parameters comes with the gradient and needs no second run of the network."""
-    return new, value
+    return new, loss(new, *batch)


# %% exercise="step" misconception="without_the_rate" changes="solution"
"""Your parameters lose the whole gradient: the rate has no effect. Each parameter loses `rate` times its gradient."""
-    new = jax.tree.map(lambda p, g: p - rate * g, params, grads)
+    new = jax.tree.map(lambda p, g: p - g, params, grads)


# %% exercise="step" misconception="the_rate_of_the_program" changes="solution"
"""Your step is that of the rate 0.5, as in the program at the start, whatever rate it is given."""
-    new = jax.tree.map(lambda p, g: p - rate * g, params, grads)
+    new = jax.tree.map(lambda p, g: p - 0.5 * g, params, grads)


# %% exercise="step" misconception="the_updates_alone" changes="solution"
"""You return the change of the parameters, `-rate * g`, in place of the new parameters. Add the old parameters."""
-    new = jax.tree.map(lambda p, g: p - rate * g, params, grads)
+    new = jax.tree.map(lambda p, g: -rate * g, params, grads)


# %% exercise="step" misconception="the_gradient_itself" changes="solution"
"""You return the gradient in place of the new parameters. It has the same structure, but the step is still to be made."""
-    return new, value
+    return grads, value


# %% exercise="step" misconception="the_loss_first" changes="solution"
"""Your two results are swapped: the new parameters come first, then the loss. (`jax.value_and_grad` has the value first.)"""
-    return new, value
+    return value, new


# %% exercise="step" misconception="parameters_only" changes="solution"
"""You return the new parameters alone. The loss belongs to the result too: return a pair."""
-    return new, value
+    return new


# %% exercise="step" misconception="the_batch_as_one_argument" changes="solution"
"""Every call raises a `TypeError`. Does the message name `labels`? `loss` takes three arguments, and the batch is a pair of two of them: unpack it with `*batch`. Does it name a list? Python has no arithmetic for trees: compute with the leaves, in `jax.tree.map`."""
-    value, grads = jax.value_and_grad(loss)(params, *batch)
+    value, grads = jax.value_and_grad(loss)(params, batch)


# %% exercise="step" misconception="changes_the_old_parameters" changes="solution"
"""The parameters that your `step` was given have changed: you write the new arrays into the old dicts. The old parameters belong to the caller: `jax.tree.map` makes a new tree."""
-    new = jax.tree.map(lambda p, g: p - rate * g, params, grads)
-    return new, value
+    for layer, g in zip(params, grads):
+        layer["weight"] = layer["weight"] - rate * g["weight"]
+        layer["bias"] = layer["bias"] - rate * g["bias"]
+    return params, value


# %% exercise="step" misconception="items_of_one_dict" changes="solution"
"""Every call raises an `AttributeError`: the parameters are a list of dicts, and a list has no `items`. `jax.tree.map` finds the leaves of any tree."""
-    new = jax.tree.map(lambda p, g: p - rate * g, params, grads)
+    new = {name: p - rate * grads[name] for name, p in params.items()}


# %% exercise="step" misconception="a_list_of_leaves" changes="solution"
"""Your parameters come back as a list of arrays. They need the structure of the old ones, or `mlp` cannot use them."""
-    new = jax.tree.map(lambda p, g: p - rate * g, params, grads)
+    pairs = zip(jax.tree.leaves(params), jax.tree.leaves(grads))
+    new = [p - rate * g for p, g in pairs]


# %% exercise="step" misconception="the_old_parameters" changes="solution"
"""You return the parameters as they were. `jax.tree.map` makes a new tree and leaves the old one as it is: return the new one."""
-    return new, value
+    return params, value


# %% exercise="step" misconception="the_gradient_for_the_loss" changes="solution"
"""Your second result is the gradient, a tree. It should be the loss at the old parameters, a number: `jax.value_and_grad` returns both, the loss first."""
-    return new, value
+    return new, grads


# %% exercise="step" misconception="only_the_weights_move" changes="solution"
"""Your biases, or all leaves with one axis, stay as they were: only the weights moved. A step moves every leaf."""
-    new = jax.tree.map(lambda p, g: p - rate * g, params, grads)
+    new = jax.tree.map(lambda p, g: p - rate * g if p.ndim > 1 else p, params, grads)


# %% exercise="step" misconception="unpacks_the_gradient_first" changes="solution"
"""Every call fails: you unpack the result of `value_and_grad` as gradient and loss. The loss comes first."""
-    value, grads = jax.value_and_grad(loss)(params, *batch)
+    grads, value = jax.value_and_grad(loss)(params, *batch)


# %% exercise="momentum_step" variant="the_old_state_copied"
def momentum_step(state, batch, rate):
    x, labels = batch
    _, grads = jax.value_and_grad(loss)(state["params"], x, labels)
    updates, velocity = momentum(grads, state["velocity"], rate)
    moved = optax.apply_updates(state["params"], updates)
    return {**state, "params": moved, "velocity": velocity, "step": state["step"] + 1}


# %% exercise="momentum_step" variant="without_the_helper"
def momentum_step(state, batch, rate):
    grads = jax.grad(loss)(state["params"], *batch)
    velocity = jax.tree.map(lambda v, g: 0.9 * v + g, state["velocity"], grads)
    params = jax.tree.map(lambda p, v: p - rate * v, state["params"], velocity)
    return dict(params=params, velocity=velocity, step=state["step"] + 1)


# %% exercise="momentum_step" misconception="forgets_the_velocity" changes="solution"
"""Your state still has the old velocity, so each step begins as if there had been no gradient before. A jitted function keeps nothing from call to call: what the next step needs has to be in the new state."""
-    return {"params": params, "velocity": velocity, "step": state["step"] + 1}
+    return {**state, "params": params, "step": state["step"] + 1}


# %% exercise="momentum_step" misconception="subtracts_the_updates" changes="solution"
"""Your parameters move the wrong way. The updates of `momentum` have their minus sign already: add them."""
-    params = jax.tree.map(jnp.add, state["params"], updates)
+    params = jax.tree.map(lambda p, u: p - u, state["params"], updates)


# %% exercise="momentum_step" misconception="the_rate_twice" changes="solution"
"""Your parameters move too little: the rate is in your updates twice. `momentum` has multiplied by it already."""
-    params = jax.tree.map(jnp.add, state["params"], updates)
+    params = jax.tree.map(lambda p, u: p + rate * u, state["params"], updates)


# %% exercise="momentum_step" misconception="the_updates_are_the_parameters" changes="solution"
"""You put the updates into the state in place of the parameters. They say how far each parameter moves: add them to the old ones."""
-    updates, velocity = momentum(grads, state["velocity"], rate)
-    params = jax.tree.map(jnp.add, state["params"], updates)
+    params, velocity = momentum(grads, state["velocity"], rate)


# %% exercise="momentum_step" misconception="no_step_is_counted" changes="solution"
"""Your `"step"` stays as it was. The new state has made one step more."""
-    return {"params": params, "velocity": velocity, "step": state["step"] + 1}
+    return {**state, "params": params, "velocity": velocity}


# %% exercise="momentum_step" misconception="a_velocity_from_zeros" changes="solution"
"""Your velocity is the gradient alone, as in the first step. Give `momentum` the velocity of the state that comes in."""
-    updates, velocity = momentum(grads, state["velocity"], rate)
+    zeros = jax.tree.map(jnp.zeros_like, grads)
+    updates, velocity = momentum(grads, zeros, rate)


# %% exercise="momentum_step" misconception="plain_gradient_descent" changes="solution"
"""Your velocity is right, but the parameters move by the gradient alone: they should move by the updates that `momentum` returns."""
-    updates, velocity = momentum(grads, state["velocity"], rate)
-    params = jax.tree.map(jnp.add, state["params"], updates)
+    _, velocity = momentum(grads, state["velocity"], rate)
+    params = jax.tree.map(lambda p, g: p - rate * g, state["params"], grads)


# %% exercise="momentum_step" misconception="grad_of_the_whole_state" met="jax-ml/jax#2215" changes="solution"
"""Every call raises a `TypeError`. Does the message name `int`? You take the gradient of the whole state, and `jax.grad` wants floats only: take it at `state["params"]`. Does it name `labels`? `loss` takes three arguments: unpack the batch with `*batch`."""
-    grads = jax.grad(loss)(state["params"], *batch)
+    grads = jax.grad(lambda state: loss(state["params"], *batch))(state)["params"]


# %% exercise="momentum_step" misconception="without_the_count" changes="solution"
"""The entry `"step"` is missing in your new state, so it has another structure than the old one. The next call needs all three entries."""
-    return {"params": params, "velocity": velocity, "step": state["step"] + 1}
+    return {"params": params, "velocity": velocity}


# %% exercise="momentum_step" misconception="changes_the_old_state" changes="solution"
"""The state that your `momentum_step` was given has changed: you write into its dict. The old state belongs to the caller: return a new dict."""
-    updates, velocity = momentum(grads, state["velocity"], rate)
-    params = jax.tree.map(jnp.add, state["params"], updates)
-    return {"params": params, "velocity": velocity, "step": state["step"] + 1}
+    updates, state["velocity"] = momentum(grads, state["velocity"], rate)
+    state["params"] = jax.tree.map(jnp.add, state["params"], updates)
+    state["step"] += 1
+    return state


# %% exercise="momentum_step" misconception="a_step_without_momentum" changes="solution"
"""Your parameters move by `rate` times the gradient, and the velocity stays as it was: this is a step of plain gradient descent. Give the gradient and the velocity to `momentum`, and keep both of its results."""
-    updates, velocity = momentum(grads, state["velocity"], rate)
-    params = jax.tree.map(jnp.add, state["params"], updates)
-    return {"params": params, "velocity": velocity, "step": state["step"] + 1}
+    params = jax.tree.map(lambda p, g: p - rate * g, state["params"], grads)
+    return {**state, "params": params, "step": state["step"] + 1}


# %% exercise="momentum_step" misconception="parameters_and_velocity" changes="solution"
"""You return two things, the parameters and the velocity. The task asks for one state: a dict with three entries, `"step"` included."""
-    return {"params": params, "velocity": velocity, "step": state["step"] + 1}
+    return params, velocity


# %% exercise="momentum_step" misconception="adds_the_lists" changes="solution"
"""Your new parameters have twice as many layers. `+` joins two lists, and adds no numbers: add leaf by leaf, with `jax.tree.map`."""
-    params = jax.tree.map(jnp.add, state["params"], updates)
+    params = state["params"] + updates


# %% exercise="momentum_step" misconception="velocity_comes_first" changes="solution"
"""Your velocity is the update, and your parameters move by the velocity: the two results of `momentum` are swapped. It returns the updates first."""
-    updates, velocity = momentum(grads, state["velocity"], rate)
+    velocity, updates = momentum(grads, state["velocity"], rate)


# %% exercise="momentum_step" misconception="the_velocity_of_the_parameters" changes="solution"
"""`momentum` gets your parameters in place of the velocity. Give it the gradient, and the velocity of the state that comes in."""
-    updates, velocity = momentum(grads, state["velocity"], rate)
+    updates, velocity = momentum(grads, state["params"], rate)


# %% exercise="momentum_step" misconception="loss_and_gradient_together" changes="solution"
"""Every call fails: `jax.value_and_grad` returns the loss and the gradient, and `momentum` gets both as one tuple. Use `jax.grad`, or unpack the two."""
-    grads = jax.grad(loss)(state["params"], *batch)
+    grads = jax.value_and_grad(loss)(state["params"], *batch)


# %% exercise="momentum_step" misconception="the_velocity_without_the_rate" changes="solution"
"""Your parameters move by the whole velocity, whatever the rate is. `momentum` returns the updates, with the rate in them: add these."""
-    params = jax.tree.map(jnp.add, state["params"], updates)
+    params = jax.tree.map(lambda p, v: p - v, state["params"], velocity)


# %% exercise="momentum_step" misconception="velocity_and_gradient_are_swapped" changes="solution"
"""Your velocity is `0.9 * gradient + velocity`: gradient and velocity have changed places in the call of `momentum`, which takes the gradient first."""
-    updates, velocity = momentum(grads, state["velocity"], rate)
+    updates, velocity = momentum(state["velocity"], grads, rate)


# %% exercise="momentum_step" misconception="only_the_weights_move" changes="solution"
"""Your biases, or all leaves with one axis, stay as they were: only the weights moved. A step moves every leaf."""
-    params = jax.tree.map(jnp.add, state["params"], updates)
+    params = jax.tree.map(lambda p, u: p + u if p.ndim > 1 else p, state["params"], updates)


# %% exercise="momentum_step" misconception="the_updates_as_velocity" changes="solution"
"""Your parameters are right after one step, but the velocity in your new state is the update. `momentum` returns the new velocity as its second result: keep this one."""
-    return {"params": params, "velocity": velocity, "step": state["step"] + 1}
+    return {"params": params, "velocity": updates, "step": state["step"] + 1}


# %% exercise="keep_frozen" variant="by_where"
def keep_frozen(roles, old, new):
    return jax.tree.map(lambda role, a, b: jnp.where(role == "frozen", a, b), roles, old, new)


# %% exercise="keep_frozen" variant="leaf_by_leaf"
def keep_frozen(roles, old, new):
    structure = jax.tree.structure(new)
    triples = zip(*(jax.tree.leaves(tree) for tree in (roles, old, new)))
    return structure.unflatten([b if role == "train" else a for role, a, b in triples])


# %% exercise="keep_frozen" misconception="a_label_is_true" changes="solution"
"""You return the new leaf for both labels: nothing is frozen. As a condition, each of the two strings counts as true; and a whole tree is never equal to a string. Compare each label with `"frozen"`."""
-        return before if role == "frozen" else after
+        return after if role else before


# %% exercise="keep_frozen" misconception="everything_is_frozen" changes="solution"
"""You return the old leaf for both labels: nothing trains. A condition that is always true, as a non-empty string is, does this, and so does a function whose arguments are not in the order of the trees."""
-        return before if role == "frozen" else after
+        return before if role else after


# %% exercise="keep_frozen" misconception="the_other_way_round" changes="solution"
"""Your two labels are swapped: a frozen leaf gets the new numbers, and a leaf that trains keeps the old ones."""
-        return before if role == "frozen" else after
+        return after if role == "frozen" else before


# %% exercise="keep_frozen" misconception="none_for_frozen" changes="solution"
"""Where a leaf is frozen, your tree has `None`, which is a node without leaves. A frozen leaf keeps its old numbers."""
-        return before if role == "frozen" else after
+        return None if role == "frozen" else after


# %% exercise="keep_frozen" misconception="zeros_for_frozen" changes="solution"
"""Your frozen leaves are zeros. It is the update of a frozen leaf that is zero; the leaf itself keeps its old numbers."""
-        return before if role == "frozen" else after
+        return (role == "train") * after


# %% exercise="keep_frozen" misconception="a_list_of_leaves"
"""You return a list of leaves. The result should have the structure of the three trees."""


def keep_frozen(roles, old, new):
    triples = zip(*(jax.tree.leaves(tree) for tree in (roles, old, new)))
    return [a if role == "frozen" else b for role, a, b in triples]


# %% exercise="keep_frozen" misconception="compared_with_is" changes="solution"
"""You return the new leaf for some labels that are `"frozen"`: you compare with `is`. Two equal strings may be two objects: `==` compares their characters."""
-        return before if role == "frozen" else after
+        word = "frozen"
+        return before if role is word else after


# %% exercise="keep_frozen" misconception="the_labels_come_back" changes="solution"
"""Your tree has the labels as leaves. `jax.tree.map` gives one leaf of each tree to your function, in the order of the trees: here the label is not its first argument."""
-    return jax.tree.map(choose, roles, old, new)
+    return jax.tree.map(choose, old, new, roles)


# %% exercise="keep_frozen" misconception="nothing_comes_back" changes="solution"
"""Your `keep_frozen` returns nothing. Return the tree that `jax.tree.map` makes."""
-    return jax.tree.map(choose, roles, old, new)
+    jax.tree.map(choose, roles, old, new)


# %% exercise="keep_frozen" misconception="one_flat_dict"
"""Your function is right for one dict of leaves, and fails for other trees. Parameters may be nested in any way: `jax.tree.map` goes over all three trees."""


def keep_frozen(roles, old, new):
    return {name: (old if roles[name] == "frozen" else new)[name] for name in roles}


# %% exercise="keep_frozen" misconception="written_into_new"
"""Your function writes the old leaves into the dict `new`, which belongs to the caller, and fails for other trees. `jax.tree.map` makes a new tree of any form."""


def keep_frozen(roles, old, new):
    for name in roles:
        if roles[name] == "frozen":
            new[name] = old[name]
    return new


# %% exercise="keep_frozen" misconception="where_over_trees" met="jax-ml/jax#9349"
"""Every call raises a `TypeError`: `jnp.where` takes arrays, and you give it whole trees. Choose leaf by leaf, in `jax.tree.map`."""


def keep_frozen(roles, old, new):
    return jnp.where(roles == "frozen", old, new)


# %% exercise="keep_frozen" misconception="a_list_of_dicts"
"""Your function is right for a list of dicts, and fails for other trees. Parameters may be nested in any way: `jax.tree.map` goes over all three trees."""


def keep_frozen(roles, old, new):
    kept = []
    for role, before, after in zip(roles, old, new):
        kept.append({k: before[k] if role[k] == "frozen" else after[k] for k in role})
    return kept


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


# %% exercise="make_step" variant="donates_the_parameters" changes="solution"
-    @jax.jit
...
-    return step
+    return jax.jit(step, donate_argnums=0)


# %% exercise="make_step" misconception="the_first_rate_for_ever"
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


# %% exercise="make_step" misconception="a_rate_of_its_own" changes="solution"
"""The caller's rate has no effect: your code uses the fixed rate 0.1. Use the argument `rate`, which may change from call to call."""
-        return jax.tree.map(lambda p, g: p - rate * g, params, grads), value
+        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value


# %% exercise="make_step" misconception="static_rate" changes="solution"
"""Your numbers are right, but JAX traces again for every new rate: `rate` is static. Then the rate is a part of the program, and a thousand rates mean a thousand compilations."""
+from functools import partial
+
+
 def make_step(loss):
...
-    @jax.jit
+    @partial(jax.jit, static_argnames="rate")


# %% exercise="make_step" misconception="no_jit" changes="solution"
"""Your numbers are right, but Python runs the loss function in every call, and nothing in your step is a jitted program. Without `jax.jit`, no program is kept from one call to the next."""
-    @jax.jit


# %% exercise="make_step" misconception="loss_after_the_step" changes="solution"
"""Your parameters are right, but your loss is the loss at the new parameters. It needs another run through the network. `value_and_grad` computes the loss at the old parameters together with the gradient."""
-        value, grads = jax.value_and_grad(loss)(params, x, y)
-        return jax.tree.map(lambda p, g: p - rate * g, params, grads), value
+        grads = jax.grad(loss)(params, x, y)
+        params = jax.tree.map(lambda p, g: p - rate * g, params, grads)
+        return params, loss(params, x, y)


# %% exercise="make_step" misconception="no_loss" changes="solution"
"""Your step returns one thing, the new parameters. Return the loss as the second result: it shows whether the training works."""
-        value, grads = jax.value_and_grad(loss)(params, x, y)
-        return jax.tree.map(lambda p, g: p - rate * g, params, grads), value
+        grads = jax.grad(loss)(params, x, y)
+        return jax.tree.map(lambda p, g: p - rate * g, params, grads)


# %% exercise="make_step" misconception="no_step" changes="solution"
"""Your `make_step` returns nothing. It has to return the step that it defines: the caller needs this function."""
-
-    return step


# %% exercise="make_step" misconception="goes_uphill" changes="solution"
"""Your loss grows from step to step. A gradient points to where the function grows; to go down, move the other way."""
-        return jax.tree.map(lambda p, g: p - rate * g, params, grads), value
+        return jax.tree.map(lambda p, g: p + rate * g, params, grads), value


# %% exercise="make_step" misconception="loss_comes_first" changes="solution"
"""You return the loss first, and then the parameters. `value_and_grad` has that order; this task has the other one."""
-        return jax.tree.map(lambda p, g: p - rate * g, params, grads), value
+        return value, jax.tree.map(lambda p, g: p - rate * g, params, grads)


# %% exercise="make_step" misconception="returns_the_gradient" section="a-gradient-is-a-tree" changes="solution"
"""You return the gradient where the new parameters should be. It has the same structure, shapes and dtypes, so no error tells you. But it is only the direction of the step."""
-        return jax.tree.map(lambda p, g: p - rate * g, params, grads), value
+        return grads, value


# %% exercise="make_step" misconception="trees_are_numbers" section="a-gradient-is-a-tree" changes="solution"
"""Your step works for one bare array, and raises a `TypeError` for other trees: it subtracts one tree from another. Python has no arithmetic for dicts: compute with the leaves."""
-        return jax.tree.map(lambda p, g: p - rate * g, params, grads), value
+        return params - rate * grads, value


# %% exercise="make_step" misconception="a_new_jit_in_each_call"
"""Your numbers are right, but Python runs the loss function in every call: `jax.jit` stands inside the step. Then each call makes a new jitted function, which has none of the programs of the one before."""


def make_step(loss):
    def step(params, x, y, rate):
        @jax.jit
        def jitted(params, x, y, rate):
            value, grads = jax.value_and_grad(loss)(params, x, y)
            return jax.tree.map(lambda p, g: p - rate * g, params, grads), value

        return jitted(params, x, y, rate)

    return step


# %% exercise="make_step" misconception="update_outside_of_jit" changes="solution"
"""Your numbers are right, but only the gradient is jitted: the new parameters are computed outside `jax.jit`. The update is then many small programs, one for each leaf and operation."""
-    @jax.jit
+    value_and_grad = jax.jit(jax.value_and_grad(loss))
+
...
-        value, grads = jax.value_and_grad(loss)(params, x, y)
+        value, grads = value_and_grad(params, x, y)


# %% exercise="make_step" misconception="if_under_jit" changes="solution"
"""Every step raises an error about the truth value of a tracer: an `if` or `while` looks at the rate, the loss or an array. While JAX traces, they have no value yet."""
         value, grads = jax.value_and_grad(loss)(params, x, y)
+        if rate == 0:
+            return params, value


# %% exercise="make_step" misconception="a_float_under_jit" changes="solution"
"""Every step raises an error about an abstract or concrete value: `float` or `.item()` makes a Python number of the loss or the rate. While JAX traces, both are tracers, which have no value yet."""
-        return jax.tree.map(lambda p, g: p - rate * g, params, grads), value
+        return jax.tree.map(lambda p, g: p - rate * g, params, grads), float(value)


# %% exercise="make_step" misconception="one_dict_only" section="a-gradient-is-a-tree" changes="solution"
"""Your step is right for one flat dict, and fails for every other tree. Parameters may be nested in any way, or be one bare array: use `jax.tree.map`."""
-        return jax.tree.map(lambda p, g: p - rate * g, params, grads), value
+        return {name: params[name] - rate * grads[name] for name in params}, value


# %% exercise="make_step" misconception="unpacks_the_gradient_first" section="a-gradient-is-a-tree" changes="solution"
"""Your step fails for trees: you unpack `value_and_grad` as gradient and loss. It gives the loss first, and the gradient second."""
-        value, grads = jax.value_and_grad(loss)(params, x, y)
+        grads, value = jax.value_and_grad(loss)(params, x, y)


# %% exercise="make_step" misconception="no_rate" changes="solution"
"""Your step is too long: it subtracts the whole gradient, whatever the rate is. Multiply the gradient by `rate`."""
-        return jax.tree.map(lambda p, g: p - rate * g, params, grads), value
+        return jax.tree.map(lambda p, g: p - g, params, grads), value


# %% exercise="make_step" misconception="the_old_parameters" changes="solution"
"""You return the parameters as they were. JAX's arrays never change, and `jax.tree.map` makes a new tree: return this one."""
-        return jax.tree.map(lambda p, g: p - rate * g, params, grads), value
+        jax.tree.map(lambda p, g: p - rate * g, params, grads)
+        return params, value


# %% exercise="make_step" misconception="gradient_for_the_loss" changes="solution"
"""Your second result is the gradient, a tree. It should be the loss at the old parameters, a number. `jax.value_and_grad` gives both."""
-        value, grads = jax.value_and_grad(loss)(params, x, y)
-        return jax.tree.map(lambda p, g: p - rate * g, params, grads), value
+        grads = jax.grad(loss)(params, x, y)
+        return jax.tree.map(lambda p, g: p - rate * g, params, grads), grads


# %% exercise="make_step" misconception="two_programs" changes="update_outside_of_jit"
"""Your numbers are right, but your step is more than one jitted program: the gradient is under one `jax.jit`, the update under another. Put one `jax.jit` around the whole step."""
+    @jax.jit
+    def update(params, grads, rate):
+        return jax.tree.map(lambda p, g: p - rate * g, params, grads)
+
     def step(params, x, y, rate):
...
-        return jax.tree.map(lambda p, g: p - rate * g, params, grads), value
+        return update(params, grads, rate), value


# %% exercise="make_step" misconception="jit_around_make_step" changes="solution"
"""Your `make_step` fails before there is a step: `jax.jit` is applied to `make_step` itself. A jitted function takes arrays and numbers, and the loss is a function. Jit the step."""
+@jax.jit
 def make_step(loss):
...
-    @jax.jit


# %% exercise="make_step" misconception="loss_outside_of_jit" changes="solution"
"""Your numbers are right, but only the update is jitted: the loss is computed outside `jax.jit` in each call. `jax.value_and_grad` computes both in the same program."""
     @jax.jit
+    def update(params, x, y, rate):
+        grads = jax.grad(loss)(params, x, y)
+        return jax.tree.map(lambda p, g: p - rate * g, params, grads)
+
...
-        value, grads = jax.value_and_grad(loss)(params, x, y)
-        return jax.tree.map(lambda p, g: p - rate * g, params, grads), value
+        return update(params, x, y, rate), loss(params, x, y)


# %% exercise="make_step" misconception="the_gradient_of_x" met="patrick-kidger/equinox#458" section="a-gradient-is-a-tree" changes="solution"
"""Your step fails for trees, because you take the gradient with respect to `x`. `jax.grad` takes it with respect to the first argument, unless `argnums` names another one."""
-        value, grads = jax.value_and_grad(loss)(params, x, y)
+        value, grads = jax.value_and_grad(loss, argnums=1)(params, x, y)


# %% exercise="make_step" misconception="x_and_y_change_places" changes="solution"
"""Your numbers are those of a loss whose `x` and `y` are swapped. The loss is called with `params`, `x` and `y`, in this order."""
-        value, grads = jax.value_and_grad(loss)(params, x, y)
+        value, grads = jax.value_and_grad(loss)(params, y, x)


# %% exercise="make_step" misconception="gradient_in_a_tuple" section="a-gradient-is-a-tree" changes="solution"
"""Your step fails for trees: with a tuple as `argnums`, the gradient comes in a tuple too, also when it has one item."""
-        value, grads = jax.value_and_grad(loss)(params, x, y)
+        value, grads = jax.value_and_grad(loss, argnums=(0,))(params, x, y)


# %% exercise="make_step" misconception="a_list_of_new_leaves" section="a-gradient-is-a-tree" changes="solution"
"""Your parameters come back as a list of arrays. The new parameters need the structure of the old ones."""
-        return jax.tree.map(lambda p, g: p - rate * g, params, grads), value
+        pairs = zip(jax.tree.leaves(params), jax.tree.leaves(grads))
+        return [p - rate * g for p, g in pairs], value


# %% exercise="make_step" misconception="items_of_one_dict" section="a-gradient-is-a-tree" changes="solution"
"""Your step is right for a dict of arrays, and fails for every other tree: it loops over `params.items()`. Parameters may be nested in any way, or be one bare array: use `jax.tree.map`."""
-        return jax.tree.map(lambda p, g: p - rate * g, params, grads), value
+        return {name: p - rate * grads[name] for name, p in params.items()}, value


# %% exercise="momentum" variant="by_flattening"
def start(params):
    return jax.tree.map(lambda p: np.zeros(p.shape, p.dtype), params)


def momentum_step(params, grads, velocity, rate, beta):
    ps, structure = jax.tree.flatten(params)
    vs = [beta * v + g for v, g in zip(jax.tree.leaves(velocity), jax.tree.leaves(grads))]
    ps = [p - rate * v for p, v in zip(ps, vs)]
    return jax.tree.unflatten(structure, ps), jax.tree.unflatten(structure, vs)


# %% exercise="momentum" variant="pairs_transposed"
def start(params):
    return jax.tree.map(lambda p: jnp.zeros(jnp.shape(p)), params)


def momentum_step(params, grads, velocity, rate, beta):
    def update(p, g, v):
        v = beta * v + g
        return p - rate * v, v

    pairs = jax.tree.map(update, params, grads, velocity)
    outer, inner = jax.tree.structure(params), jax.tree.structure((0, 0))
    return jax.tree.transpose(outer, inner, pairs)


# %% exercise="momentum" misconception="moves_with_the_old_velocity" changes="solution"
"""Your parameters are one step late: they move with the old velocity. When the velocity is 0, the first step does nothing."""
-    velocity = jax.tree.map(lambda v, g: beta * v + g, velocity, grads)
-    return jax.tree.map(lambda p, v: p - rate * v, params, velocity), velocity
+    params = jax.tree.map(lambda p, v: p - rate * v, params, velocity)
+    return params, jax.tree.map(lambda v, g: beta * v + g, velocity, grads)


# %% exercise="momentum" misconception="forgets_the_velocity" changes="solution"
"""Your second result is the old velocity, so the next step starts without this gradient. A function on trees has no memory: return everything that the next step needs."""
-    velocity = jax.tree.map(lambda v, g: beta * v + g, velocity, grads)
-    return jax.tree.map(lambda p, v: p - rate * v, params, velocity), velocity
+    new = jax.tree.map(lambda v, g: beta * v + g, velocity, grads)
+    return jax.tree.map(lambda p, v: p - rate * v, params, new), velocity


# %% exercise="momentum" misconception="velocity_changed_in_place" changes="solution"
"""The velocity that your `momentum_step` was given is no longer what it was: you write the new velocity into the dict of the old one. The old velocity belongs to the caller, who may need it again."""
-    velocity = jax.tree.map(lambda v, g: beta * v + g, velocity, grads)
-    return jax.tree.map(lambda p, v: p - rate * v, params, velocity), velocity
+    new = jax.tree.map(lambda v, g: beta * v + g, velocity, grads)
+    if isinstance(velocity, dict):
+        velocity.update(new)
+    return jax.tree.map(lambda p, v: p - rate * v, params, new), new


# %% exercise="momentum" misconception="a_tree_of_pairs" met="metaopt/optree#126" section="an-optimiser-is-a-function-on-trees" changes="solution"
"""Your `momentum_step` returns one tree, with a pair in place of each leaf: `jax.tree.map` makes one tree, whatever your function returns. The task asks for a pair of two trees, so write a map for each."""
-    velocity = jax.tree.map(lambda v, g: beta * v + g, velocity, grads)
-    return jax.tree.map(lambda p, v: p - rate * v, params, velocity), velocity
+    def update(p, g, v):
+        v = beta * v + g
+        return p - rate * v, v
+
+    return jax.tree.map(update, params, grads, velocity)


# %% exercise="momentum" misconception="weighted_mean" changes="solution"
"""Your velocity is a weighted mean: the gradient counts `1 - beta` times. That is a common form too. This task adds the whole gradient."""
-    velocity = jax.tree.map(lambda v, g: beta * v + g, velocity, grads)
+    velocity = jax.tree.map(lambda v, g: beta * v + (1 - beta) * g, velocity, grads)


# %% exercise="momentum" misconception="rate_in_the_velocity" changes="solution"
"""Your velocity has the rate in it. As long as the rate stays the same the parameters agree; when it changes, your velocity still moves at the old rate."""
-    velocity = jax.tree.map(lambda v, g: beta * v + g, velocity, grads)
-    return jax.tree.map(lambda p, v: p - rate * v, params, velocity), velocity
+    velocity = jax.tree.map(lambda v, g: beta * v + rate * g, velocity, grads)
+    return jax.tree.map(jnp.subtract, params, velocity), velocity


# %% exercise="momentum" misconception="looks_ahead" changes="solution"
"""Your parameters go further than the new velocity says: the gradient is counted once more, as Nesterov's momentum does. The velocities themselves are right."""
-    return jax.tree.map(lambda p, v: p - rate * v, params, velocity), velocity
+    new = jax.tree.map(lambda p, v, g: p - rate * (beta * v + g), params, velocity, grads)
+    return new, velocity


# %% exercise="momentum" misconception="one_number_for_all" changes="solution"
"""Your first velocity is a single 0. It must remember a gradient for every parameter, so it has to be a tree with the structure of `params`. Otherwise a map over both trees fails."""
-    return jax.tree.map(jnp.zeros_like, params)
+    return 0.0


# %% exercise="momentum" misconception="one_dict_only" section="a-gradient-is-a-tree"
"""Your functions work on one dict of arrays. Parameters may be nested in any way, or be one bare array: use `jax.tree.map`."""


def start(params):
    return {name: jnp.zeros_like(p) for name, p in params.items()}


def momentum_step(params, grads, velocity, rate, beta):
    velocity = {name: beta * velocity[name] + g for name, g in grads.items()}
    return {name: p - rate * velocity[name] for name, p in params.items()}, velocity


# %% exercise="momentum" misconception="every_tuple_is_a_pair" changes="a_tree_of_pairs"
"""Your step is wrong where the parameters hold a tuple or a namedtuple: your function returns pairs, and `is_leaf` finds them by asking for a tuple. But the tuples of the tree are tuples too, so your code takes them for pairs."""
-    return jax.tree.map(update, params, grads, velocity)
+    def is_pair(node):
+        return isinstance(node, tuple)
+
+    pairs = jax.tree.map(update, params, grads, velocity)
+    return tuple(jax.tree.map(lambda pair: pair[at], pairs, is_leaf=is_pair) for at in (0, 1))


# %% exercise="momentum" misconception="zeros_without_the_shape" changes="solution"
"""Your first velocity is right for vectors, and flat for matrices: you make as many zeros as a leaf has numbers, in one row. Each leaf of the velocity needs the shape of its parameter; otherwise adding a gradient fails or changes the shape."""
-    return jax.tree.map(jnp.zeros_like, params)
+    return jax.tree.map(lambda p: jnp.zeros(p.size), params)


# %% exercise="momentum" misconception="none_needs_a_zero" section="a-gradient-is-a-tree" changes="solution"
"""Your first velocity has a 0 where `params` has `None`. For JAX, `None` is a node without children. With a leaf in its place, the two trees have different structures, and a map over both fails."""
-    return jax.tree.map(jnp.zeros_like, params)
+    return jax.tree.map(
+        lambda p: jnp.array(0.0) if p is None else jnp.zeros_like(p),
+        params,
+        is_leaf=lambda p: p is None,
+    )


# %% exercise="momentum" misconception="a_number_for_each_leaf" changes="solution"
"""Your first velocity has one Python number for each leaf. It needs an array of zeros with the shape of the parameter."""
-    return jax.tree.map(jnp.zeros_like, params)
+    return jax.tree.map(lambda p: 0.0, params)


# %% exercise="momentum" misconception="zeros_like_a_tree" section="a-gradient-is-a-tree" changes="solution"
"""Your `start` works for one bare array only. `jnp.zeros_like` takes one array; `jax.tree.map` applies it to every leaf of a tree."""
-    return jax.tree.map(jnp.zeros_like, params)
+    return jnp.zeros_like(params)


# %% exercise="momentum" misconception="numpy_zeros" changes="solution"
"""Your first velocity has NumPy's arrays of `float64`: NumPy's zeros are `float64`, if you do not name another dtype. The parameters are `float32`."""
-    return jax.tree.map(jnp.zeros_like, params)
+    return jax.tree.map(lambda p: np.zeros(p.shape), params)


# %% exercise="momentum" misconception="zero_times_the_parameter" changes="solution"
"""Your first velocity is `nan` where a parameter is `nan`: you compute the zeros from the parameters, as in `0 * p` or `p - p`. Make the zeros from the shape."""
-    return jax.tree.map(jnp.zeros_like, params)
+    return jax.tree.map(lambda p: 0 * p, params)


# %% exercise="momentum" misconception="a_list_of_zeros" section="a-gradient-is-a-tree" changes="solution"
"""Your first velocity is a list. It needs the structure of the parameters: a map over both trees fails otherwise."""
-    return jax.tree.map(jnp.zeros_like, params)
+    return [jnp.zeros_like(leaf) for leaf in jax.tree.leaves(params)]


# %% exercise="momentum" misconception="nothing_at_the_start" changes="solution"
"""Your `start` returns nothing. The first velocity is a tree of zeros like the parameters."""
-    return jax.tree.map(jnp.zeros_like, params)
+    jax.tree.map(jnp.zeros_like, params)


# %% exercise="momentum" misconception="beta_for_both" changes="solution"
"""Your velocity multiplies the new gradient by `beta` too. Only the old velocity is multiplied; the gradient is added as it is."""
-    velocity = jax.tree.map(lambda v, g: beta * v + g, velocity, grads)
-    return jax.tree.map(lambda p, v: p - rate * v, params, velocity), velocity
+    velocity = jax.tree.map(lambda v, g: beta * (v + g), velocity, grads)
+    params = jax.tree.map(lambda p, v: p - rate * v, params, velocity)
+    return params, velocity


# %% exercise="momentum" misconception="beta_for_the_gradient" changes="beta_for_both"
"""Your velocity keeps the old velocity whole and multiplies the gradient by `beta`. It is the other way round: `beta` makes the old velocity smaller."""
-    velocity = jax.tree.map(lambda v, g: beta * (v + g), velocity, grads)
+    velocity = jax.tree.map(lambda v, g: v + beta * g, velocity, grads)


# %% exercise="momentum" misconception="nothing_fades" changes="beta_for_both"
"""Your velocity adds up all gradients: `beta` has no effect. The old velocity is multiplied by `beta` before the gradient is added."""
-    velocity = jax.tree.map(lambda v, g: beta * (v + g), velocity, grads)
+    velocity = jax.tree.map(lambda v, g: v + g, velocity, grads)


# %% exercise="momentum" misconception="no_rate" changes="solution"
"""Your parameters move by the whole velocity, whatever the rate is. Multiply the velocity by `rate`."""
-    return jax.tree.map(lambda p, v: p - rate * v, params, velocity), velocity
+    params = jax.tree.map(lambda p, v: p - v, params, velocity)
+    return params, velocity


# %% exercise="momentum" misconception="goes_uphill" changes="solution"
"""Your parameters move the other way: the velocity is added. It points to where the loss grows, so subtract it."""
-    return jax.tree.map(lambda p, v: p - rate * v, params, velocity), velocity
+    params = jax.tree.map(lambda p, v: p + rate * v, params, velocity)
+    return params, velocity


# %% exercise="momentum" misconception="velocity_first" changes="solution"
"""Your two results are swapped: the new parameters come first, then the new velocity."""
-    return jax.tree.map(lambda p, v: p - rate * v, params, velocity), velocity
+    params = jax.tree.map(lambda p, v: p - rate * v, params, velocity)
+    return velocity, params


# %% exercise="momentum" misconception="parameters_only" section="an-optimiser-is-a-function-on-trees" changes="solution"
"""You return one thing, the new parameters. Return the new velocity too: the next step needs it, and a function on trees has no memory."""
-    return jax.tree.map(lambda p, v: p - rate * v, params, velocity), velocity
+    params = jax.tree.map(lambda p, v: p - rate * v, params, velocity)
+    return params


# %% exercise="momentum" misconception="velocity_without_use" changes="solution"
"""Your velocity is right, but your parameters move along the gradient alone. Subtract `rate` times the new velocity."""
-    velocity = jax.tree.map(lambda v, g: beta * v + g, velocity, grads)
-    return jax.tree.map(lambda p, v: p - rate * v, params, velocity), velocity
+    new = jax.tree.map(lambda v, g: beta * v + g, velocity, grads)
+    return jax.tree.map(lambda p, g: p - rate * g, params, grads), new


# %% exercise="momentum" misconception="a_velocity_that_is_subtracted" changes="solution"
"""Your velocity has the other sign and the rate in it, as in some libraries: then it is added to the parameters. Here it is `beta * velocity + gradient`, and `rate` times it is subtracted."""
-    velocity = jax.tree.map(lambda v, g: beta * v + g, velocity, grads)
-    return jax.tree.map(lambda p, v: p - rate * v, params, velocity), velocity
+    velocity = jax.tree.map(lambda v, g: beta * v - rate * g, velocity, grads)
+    params = jax.tree.map(lambda p, v: p + v, params, velocity)
+    return params, velocity


# %% exercise="momentum" misconception="written_into_the_dicts" section="a-gradient-is-a-tree" changes="one_dict_only"
"""Your functions work on one dict of arrays, and write the new velocity into the caller's dict. Parameters may be nested in any way, and the old velocity belongs to the caller: use `jax.tree.map`, which makes new trees."""
-    velocity = {name: beta * velocity[name] + g for name, g in grads.items()}
-    return {name: p - rate * velocity[name] for name, p in params.items()}, velocity
+    new = {}
+    for name in params:
+        velocity[name] = beta * velocity[name] + grads[name]
+        new[name] = params[name] - rate * velocity[name]
+    return new, velocity


# %% exercise="momentum" misconception="trees_are_numbers" section="a-gradient-is-a-tree" changes="solution"
"""Your step works for one bare array, and raises a `TypeError` for other trees: it computes with whole trees. Python has no arithmetic for dicts: compute with the leaves."""
-    velocity = jax.tree.map(lambda v, g: beta * v + g, velocity, grads)
-    return jax.tree.map(lambda p, v: p - rate * v, params, velocity), velocity
+    velocity = beta * velocity + grads
+    return params - rate * velocity, velocity


# %% exercise="momentum" misconception="the_velocity_is_global"
"""When `momentum_step` is called twice with the same arguments, your two results differ: your code keeps the velocity in a variable outside the function. Two trainings would share it, and `jit` would read it only once. The velocity comes in as an argument, and goes out as a result."""
remembered = None


def start(params):
    global remembered
    remembered = jax.tree.map(jnp.zeros_like, params)
    return remembered


def momentum_step(params, grads, velocity, rate, beta):
    global remembered
    if jax.tree.structure(remembered) != jax.tree.structure(params):
        remembered = velocity
    remembered = jax.tree.map(lambda v, g: beta * v + g, remembered, grads)
    return jax.tree.map(lambda p, v: p - rate * v, params, remembered), remembered


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


# %% exercise="freeze" misconception="none_for_train" changes="solution"
"""There is a `None` in your label tree. For JAX, `None` is a node without children. So your label tree has another structure than `params`, and a map over both fails."""
-        is_frozen = any(text.startswith(part + "/") for part in frozen)
-        return "frozen" if is_frozen else "train"
+        return "frozen" if any(text.startswith(part + "/") for part in frozen) else None


# %% exercise="freeze" misconception="labels_through_jit" changes="solution"
"""Your `frozen_step` raises a `TypeError`: the labels are an argument of a jitted function. A string is a legal leaf of a tree, but jit takes arrays and numbers only."""
-        is_frozen = any(text.startswith(part + "/") for part in frozen)
-        return "frozen" if is_frozen else "train"
+        return "frozen" if any(text.startswith(part + "/") for part in frozen) else "train"
...
+@jax.jit
 def frozen_step(params, grads, labels, rate):


# %% exercise="freeze" misconception="zero_times_nan" changes="solution"
"""Your frozen leaves become `nan` where their gradient is `nan`: you multiply the gradient by a mask of 0 and 1. In floating point, 0 times `nan` or infinity is `nan`."""
-        is_frozen = any(text.startswith(part + "/") for part in frozen)
-        return "frozen" if is_frozen else "train"
+        return "frozen" if any(text.startswith(part + "/") for part in frozen) else "train"
...
-    def update(p, g, label):
-        return p if label == "frozen" else p - rate * g
-
-    return jax.tree.map(update, params, grads, labels)
+    mask = jax.tree.map(lambda label: float(label == "train"), labels)
+    return jax.tree.map(lambda p, g, on: p - rate * on * g, params, grads, mask)


# %% exercise="freeze" misconception="begins_with_the_same_letters" changes="solution"
"""You freeze `body/10` together with `body/1`, or `body2` together with `body`. Two paths may begin with the same letters and name two parts: compare whole entries."""
-        text = jax.tree_util.keystr(path, simple=True, separator="/") + "/"
-        is_frozen = any(text.startswith(part + "/") for part in frozen)
-        return "frozen" if is_frozen else "train"
+        text = jax.tree_util.keystr(path, simple=True, separator="/")
+        return "frozen" if any(text.startswith(part) for part in frozen) else "train"


# %% exercise="freeze" misconception="whole_paths_only" changes="begins_with_the_same_letters"
"""You freeze a leaf whose own path is listed, but not the leaves in a listed part. When the list names a part, all leaves in this part are frozen."""
-        return "frozen" if any(text.startswith(part) for part in frozen) else "train"
+        return "frozen" if text in frozen else "train"


# %% exercise="freeze" misconception="a_label_is_true" changes="zero_times_nan"
"""Nothing moves in your step. For Python, every string that is not empty is true, `"train"` as well as `"frozen"`, so `if label:` holds for both. Compare the label with a string."""
-    mask = jax.tree.map(lambda label: float(label == "train"), labels)
-    return jax.tree.map(lambda p, g, on: p - rate * on * g, params, grads, mask)
+    return jax.tree.map(lambda p, g, label: p if label else p - rate * g, params, grads, labels)


# %% exercise="freeze" misconception="masked_hands_it_on" changes="zero_times_nan"
"""Your frozen leaves move by their whole gradient, as with `optax.masked`: where the mask is False, it passes the gradient on unchanged, and does not set it to 0."""
+import optax
+
+
 def label_tree(params, frozen):
...
-    mask = jax.tree.map(lambda label: float(label == "train"), labels)
-    return jax.tree.map(lambda p, g, on: p - rate * on * g, params, grads, mask)
+    tool = optax.masked(optax.sgd(rate), jax.tree.map(lambda label: label == "train", labels))
+    updates, _ = tool.update(grads, tool.init(params))
+    return optax.apply_updates(params, updates)


# %% exercise="freeze" misconception="one_label_for_each_part" changes="solution"
"""Your label tree has one label for each part at the top, and it stops there. Such a tree is a prefix of `params`. This task asks for a label in place of every leaf."""
-    def label(path, leaf):
-        text = jax.tree_util.keystr(path, simple=True, separator="/") + "/"
-        is_frozen = any(text.startswith(part + "/") for part in frozen)
-        return "frozen" if is_frozen else "train"
-
-    return jax.tree.map_with_path(label, params)
+    if isinstance(params, dict):
+        return {name: "frozen" if name in frozen else "train" for name in params}
+    return ["frozen" if str(place) in frozen else "train" for place in range(len(params))]


# %% exercise="freeze" misconception="brackets_in_the_paths" changes="begins_with_the_same_letters"
"""You freeze no leaf, whatever is listed. Without options, `keystr` writes `['body'][0]`. The listed paths have plain entries and slashes."""
-        text = jax.tree_util.keystr(path, simple=True, separator="/")
+        text = jax.tree_util.keystr(path)


# %% exercise="freeze" misconception="one_level_down" changes="solution"
"""You freeze the leaves directly in a listed part, and train the deeper leaves: you compare the path of a leaf, and the path without its last entry. A listed part may be any number of levels above a leaf."""
-        text = jax.tree_util.keystr(path, simple=True, separator="/") + "/"
-        is_frozen = any(text.startswith(part + "/") for part in frozen)
-        return "frozen" if is_frozen else "train"
+        texts = [jax.tree_util.keystr(way, simple=True, separator="/") for way in (path, path[:-1])]
+        return "frozen" if any(text in frozen for text in texts) else "train"


# %% exercise="freeze" misconception="none_gets_a_label" changes="solution"
"""Your label tree has a label where `params` has `None`. For JAX, `None` is a node without children: it gets no label. Otherwise your label tree has another structure than `params`, and a map over both fails."""
-        is_frozen = any(text.startswith(part + "/") for part in frozen)
-        return "frozen" if is_frozen else "train"
+        return "frozen" if any(text.startswith(part + "/") for part in frozen) else "train"
...
-    return jax.tree.map_with_path(label, params)
+    return jax.tree.map_with_path(label, params, is_leaf=lambda x: x is None)


# %% exercise="freeze" misconception="the_first_entry_only" changes="none_for_train"
"""You freeze listed parts at the top of the tree only: of each path, your code sees the first entry. A listed path may have several entries, with slashes between them, such as `body/0`."""
-        text = jax.tree_util.keystr(path, simple=True, separator="/") + "/"
-        return "frozen" if any(text.startswith(part + "/") for part in frozen) else None
+        text = jax.tree_util.keystr(path[:1], simple=True)
+        return "frozen" if text in frozen else "train"


# %% exercise="freeze" misconception="somewhere_in_the_text" changes="begins_with_the_same_letters"
"""You freeze leaves whose path has the listed string anywhere in it. A listed path starts at the root of the tree, and its entries have to be equal as a whole: `body/1` is not `body/10`."""
-        return "frozen" if any(text.startswith(part) for part in frozen) else "train"
+        return "frozen" if any(part in text for part in frozen) else "train"


# %% exercise="freeze" misconception="an_entry_anywhere" changes="begins_with_the_same_letters"
"""You freeze every leaf that has a listed string among the entries of its path, at any depth. A listed path starts at the root of the tree, and may have several entries."""
-        return "frozen" if any(text.startswith(part) for part in frozen) else "train"
+        return "frozen" if any(part in text.split("/") for part in frozen) else "train"


# %% exercise="freeze" misconception="labels_in_a_list" changes="solution"
"""Your labels are a list, in the order of the leaves. The label tree needs the structure of `params`: then a map can go over both."""
-    def label(path, leaf):
+    labels = []
+    for path, _ in jax.tree.leaves_with_path(params):
...
-        return "frozen" if is_frozen else "train"
-
-    return jax.tree.map_with_path(label, params)
+        labels.append("frozen" if is_frozen else "train")
+    return labels


# %% exercise="freeze" misconception="labels_by_their_paths" changes="labels_in_a_list"
"""Your labels are in a flat dict, by their paths. The label tree needs the structure of `params`: then a map can go over both."""
-    labels = []
+    labels = {}
...
-        text = jax.tree_util.keystr(path, simple=True, separator="/") + "/"
-        is_frozen = any(text.startswith(part + "/") for part in frozen)
-        labels.append("frozen" if is_frozen else "train")
+        text = jax.tree_util.keystr(path, simple=True, separator="/")
+        is_frozen = any((text + "/").startswith(part + "/") for part in frozen)
+        labels[text] = "frozen" if is_frozen else "train"


# %% exercise="freeze" misconception="every_entry_has_a_key" changes="solution"
"""Your `label_tree` fails where a leaf lies in a list, a tuple or another node that is not a dict: you read the `key` of each entry of the path. An entry of a list or a tuple has an `idx` instead; `keystr` writes every kind."""
-        text = jax.tree_util.keystr(path, simple=True, separator="/") + "/"
-        is_frozen = any(text.startswith(part + "/") for part in frozen)
-        return "frozen" if is_frozen else "train"
+        text = "/".join(str(entry.key) for entry in path)
+        return "frozen" if any((text + "/").startswith(part + "/") for part in frozen) else "train"


# %% exercise="freeze" misconception="labels_are_bools" changes="solution"
"""Your labels are `True` and `False`. The task asks for the strings `frozen` and `train`."""
-        is_frozen = any(text.startswith(part + "/") for part in frozen)
-        return "frozen" if is_frozen else "train"
+        return any(text.startswith(part + "/") for part in frozen)


# %% exercise="freeze" misconception="the_first_path_decides" changes="solution"
"""Only the first path of the list has an effect, as with a `return` inside the loop over the list. Look at every path before saying that a leaf is trained."""
-        is_frozen = any(text.startswith(part + "/") for part in frozen)
-        return "frozen" if is_frozen else "train"
+        return "frozen" if frozen and text.startswith(frozen[0] + "/") else "train"


# %% exercise="freeze" misconception="cleans_every_gradient" changes="solution"
"""Where the gradient of a trained leaf is `nan` or infinite, your step uses another number: all gradients are changed first, as `jnp.nan_to_num` does. Only frozen leaves ignore their gradient; a trained leaf uses its gradient as it is."""
-        is_frozen = any(text.startswith(part + "/") for part in frozen)
-        return "frozen" if is_frozen else "train"
+        return "frozen" if any(text.startswith(part + "/") for part in frozen) else "train"
...
-        return p if label == "frozen" else p - rate * g
+        return p - rate * jnp.nan_to_num(g) * (label == "train")


# %% exercise="freeze" misconception="cleans_with_zeros" changes="cleans_every_gradient"
"""A trained leaf whose gradient is `nan` or infinite stays as it is: all gradients that are not finite become 0 first. Only frozen leaves ignore their gradient; a trained leaf uses its gradient as it is."""
-        return p - rate * jnp.nan_to_num(g) * (label == "train")
+        return p - rate * jnp.where(jnp.isfinite(g), g, 0.0) * (label == "train")


# %% exercise="freeze" misconception="all_leaves_move" changes="cleans_every_gradient"
"""Your frozen leaves move too: the labels have no effect. Every string that is not empty is true, `"frozen"` as well as `"train"`, so a label alone is no condition. Compare it with one of them."""
-        return p - rate * jnp.nan_to_num(g) * (label == "train")
+        return p - rate * g


# %% exercise="freeze" misconception="frozen_leaves_are_zero" changes="cleans_every_gradient"
"""Your frozen leaves become 0: the parameters are multiplied by a mask, or replaced. A frozen leaf keeps its numbers."""
-        return p - rate * jnp.nan_to_num(g) * (label == "train")
+        return p - rate * g if label == "train" else jnp.zeros_like(p)


# %% exercise="freeze" misconception="frozen_leaves_are_none" changes="cleans_every_gradient"
"""You return `None` for the frozen leaves. They are part of the parameters: a frozen leaf comes back as it was."""
-        return p - rate * jnp.nan_to_num(g) * (label == "train")
+        return p - rate * g if label == "train" else None


# %% exercise="freeze" misconception="trees_are_numbers" section="a-gradient-is-a-tree" changes="zero_times_nan"
"""Your step works for one bare array, and raises a `TypeError` for other trees: it computes with whole trees. Python has no arithmetic for dicts: compute with the leaves."""
-    mask = jax.tree.map(lambda label: float(label == "train"), labels)
-    return jax.tree.map(lambda p, g, on: p - rate * on * g, params, grads, mask)
+    return params if labels == "frozen" else params - rate * grads


# %% exercise="freeze" misconception="a_path_is_a_pattern"
"""You freeze leaves whose paths only look like a listed path, and fail where a key has punctuation: a listed path is used as a regular expression. There, `.`, `+` and `(` have meanings of their own. Compare strings."""
import re


def label_tree(params, frozen):
    def label(path, leaf):
        text = jax.tree_util.keystr(path, simple=True, separator="/")
        return "frozen" if any(re.match(part + "(/|$)", text) for part in frozen) else "train"

    return jax.tree.map_with_path(label, params)


def frozen_step(params, grads, labels, rate):
    return jax.tree.map(
        lambda p, g, label: p if label == "frozen" else p - rate * g, params, grads, labels
    )


# %% exercise="freeze" misconception="the_list_is_used_up" changes="zero_times_nan"
"""Of a listed part with several leaves, you freeze only the first one, and the caller's list is shorter after the call: you remove a path from `frozen` once it is found. Other leaves in the same part need it too."""
-        return "frozen" if any(text.startswith(part + "/") for part in frozen) else "train"
+        for part in frozen:
+            if text.startswith(part + "/"):
+                frozen.remove(part)
+                return "frozen"
+        return "train"
...
-    mask = jax.tree.map(lambda label: float(label == "train"), labels)
-    return jax.tree.map(lambda p, g, on: p - rate * on * g, params, grads, mask)
+    return jax.tree.map(
+        lambda p, g, label: p if label == "frozen" else p - rate * g, params, grads, labels
+    )


# %% exercise="freeze" misconception="the_step_in_nested_dicts" changes="zero_times_nan"
"""Your `frozen_step` writes into the caller's dicts, and fails or does nothing where the tree has other nodes. Parameters may have lists and tuples too, or be one bare array, and the old ones belong to the caller: `jax.tree.map` makes a new tree of any form."""
-    mask = jax.tree.map(lambda label: float(label == "train"), labels)
-    return jax.tree.map(lambda p, g, on: p - rate * on * g, params, grads, mask)
+    for key in params:
+        if isinstance(params[key], dict):
+            frozen_step(params[key], grads[key], labels[key], rate)
+        elif labels[key] == "train":
+            params[key] = params[key] - rate * grads[key]
+    return params


# %% exercise="train_step" variant="filter_value_and_grad"
def start(model, optimiser):
    return optimiser.init(eqx.filter(model, eqx.is_inexact_array))


@eqx.filter_jit
def train_step(model, state, optimiser, loss):
    value, grads = eqx.filter_value_and_grad(loss)(model)
    params = eqx.filter(model, eqx.is_inexact_array)
    updates, state = optimiser.update(grads, state, params)
    return eqx.apply_updates(model, updates), state


# %% exercise="train_step" variant="a_list_of_arrays"
def is_trained(leaf):
    return isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jnp.floating)


def trained(model):
    return [leaf for leaf in jax.tree.leaves(model) if is_trained(leaf)]


def start(model, optimiser):
    return optimiser.init(trained(model))


def train_step(model, state, optimiser, loss):
    leaves, structure = jax.tree.flatten(model)

    def put_together(params):
        rest = iter(params)
        return structure.unflatten([next(rest) if is_trained(x) else x for x in leaves])

    params = trained(model)
    grads = jax.grad(lambda params: loss(put_together(params)))(params)
    updates, state = optimiser.update(grads, state, params)
    return put_together(optax.apply_updates(params, updates)), state


# %% exercise="train_step" misconception="init_of_the_whole_model" met="patrick-kidger/equinox#364, patrick-kidger/equinox#69, patrick-kidger/equinox#441, patrick-kidger/equinox#887" changes="solution"
"""For a model with a function or a string, your `start` raises a `TypeError`, as soon as the optimiser has a memory. Optax makes zeros for every leaf, and there are no zeros like a function. Give `init` the trained leaves only."""
-    return optimiser.init(eqx.filter(model, eqx.is_inexact_array))
+    return optimiser.init(model)


# %% exercise="train_step" misconception="another_filter_for_the_state" met="patrick-kidger/equinox#772" changes="solution"
"""Your first state has zeros for whole numbers too, which never get a gradient. So it has an array where the gradients have `None`: the state changes its structure in the first step, or the step fails. `eqx.is_array` lets integer arrays through."""
-    return optimiser.init(eqx.filter(model, eqx.is_inexact_array))
+    return optimiser.init(eqx.filter(model, eqx.is_array))


# %% exercise="train_step" misconception="numbers_in_the_state" met="patrick-kidger/equinox#772" changes="solution"
"""Your first state has an entry for each number: for whole ones, and for Python's. Gradients exist for floating-point arrays only. So the state changes its structure in the first step, or the step fails. `eqx.is_array_like` takes every number for an array."""
-    return optimiser.init(eqx.filter(model, eqx.is_inexact_array))
+    return optimiser.init(eqx.filter(model, eqx.is_array_like))


# %% exercise="train_step" misconception="three_ways_to_filter" met="patrick-kidger/equinox#590" changes="another_filter_for_the_state"
"""Three trees meet in your step, and each was filtered in another way: the state holds whole numbers too, the gradients only floating-point arrays, and `update` gets the whole model. Where one has `None`, another has a number or a function."""
-    updates, state = optimiser.update(grads, state, params)
+    updates, state = optimiser.update(grads, state, model)


# %% exercise="train_step" misconception="no_filter_at_all" met="patrick-kidger/equinox#69, patrick-kidger/equinox#149"
"""Your code is right for a model that holds floating-point arrays only. Others fail, or a Python number in them is trained: nothing is filtered, and Optax and `jax.grad` get every leaf."""


def start(model, optimiser):
    return optimiser.init(model)


def train_step(model, state, optimiser, loss):
    updates, state = optimiser.update(jax.grad(loss)(model), state, model)
    return optax.apply_updates(model, updates), state


# %% exercise="train_step" misconception="a_function_under_jit" changes="filter_value_and_grad"
"""Every step fails: your `train_step` is under plain `jax.jit`, and two of its arguments are no arrays. Neither the loss nor the optimiser can be traced."""
-@eqx.filter_jit
+@jax.jit


# %% exercise="train_step" misconception="the_rest_is_lost" met="patrick-kidger/equinox#896, patrick-kidger/equinox#107" changes="solution"
"""Your new model has `None` where the model has a function, a text or a whole number: you return the filtered tree. The next call of such a model fails. Add the updates to the whole model, or combine it with the rest."""
-    return eqx.apply_updates(model, updates), state
+    return eqx.apply_updates(params, updates), state


# %% exercise="train_step" misconception="the_whole_model_for_update" met="patrick-kidger/equinox#590" changes="solution"
"""Your step works with some optimisers, and fails with `MultiSteps`: `update` gets the whole model as the parameters. There is a function, or a number, where gradients and state have `None`. All three need one filter."""
-    updates, state = optimiser.update(grads, state, params)
+    updates, state = optimiser.update(grads, state, model)


# %% exercise="train_step" misconception="no_parameters_for_update" changes="solution"
"""Your step fails with weight decay: Optax keeps no parameters in its state, and `update` gets none from you. Decay needs them."""
-    updates, state = optimiser.update(grads, state, params)
+    updates, state = optimiser.update(grads, state)


# %% exercise="train_step" misconception="gradient_of_everything" met="patrick-kidger/equinox#361" section="equinox-and-flax" changes="solution"
"""Your step fails for each model that holds something else than floating-point numbers: you differentiate the whole model, and `jax.grad` takes no functions, texts or whole numbers."""
-    grads = jax.grad(lambda params: loss(eqx.combine(params, rest)))(params)
+    grads = jax.grad(loss)(model)


# %% exercise="train_step" misconception="a_loss_without_the_rest" changes="solution"
"""Your gradients are those of a model without its rest: the loss gets the filtered tree, in which functions, texts and whole numbers are `None`. The loss needs the whole model; only the gradient is taken for a part of it."""
-    grads = jax.grad(lambda params: loss(eqx.combine(params, rest)))(params)
+    grads = jax.grad(loss)(params)


# %% exercise="train_step" misconception="plain_jit" met="patrick-kidger/equinox#681, patrick-kidger/equinox#149"
"""Your step fails for a model with a function or a string, and trains Python numbers: it is under plain `jax.jit`. There, a Python number becomes an array, which your filter lets through, and a function cannot come in at all. Use `eqx.filter_jit`."""
from functools import partial


def start(model, optimiser):
    return optimiser.init(eqx.filter(model, eqx.is_inexact_array))


@partial(jax.jit, static_argnums=(2, 3))
def train_step(model, state, optimiser, loss):
    grads = eqx.filter_grad(loss)(model)
    params = eqx.filter(model, eqx.is_inexact_array)
    updates, state = optimiser.update(grads, state, params)
    return eqx.apply_updates(model, updates), state


# %% exercise="train_step" misconception="every_array" section="what-belongs-in-params" changes="solution"
"""Your step fails for a model with whole numbers in arrays: you differentiate every array, and `jax.grad` takes floating-point numbers only."""
-    return optimiser.init(eqx.filter(model, eqx.is_inexact_array))
+    return optimiser.init(eqx.filter(model, eqx.is_array))
...
-    params, rest = eqx.partition(model, eqx.is_inexact_array)
+    params, rest = eqx.partition(model, eqx.is_array)


# %% exercise="train_step" misconception="numbers_are_trained" met="patrick-kidger/equinox#318" section="what-belongs-in-params" changes="solution"
"""Your steps move the Python numbers of a model too. A setting such as a rate or a scale is a leaf like others; only a filter says that it is not trained."""
-    return optimiser.init(eqx.filter(model, eqx.is_inexact_array))
+    return optimiser.init(eqx.filter(model, eqx.is_inexact_array_like))
...
-    params, rest = eqx.partition(model, eqx.is_inexact_array)
+    params, rest = eqx.partition(model, eqx.is_inexact_array_like)


# %% exercise="train_step" misconception="only_float32_is_trained" section="what-belongs-in-params" changes="a_list_of_arrays"
"""Your steps leave arrays of `float16` as they are: your filter asks for `float32`. Every floating-point array is trained, whatever its precision."""
-    return isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jnp.floating)
+    return isinstance(leaf, jax.Array) and leaf.dtype == jnp.float32


# %% exercise="train_step" misconception="optax_adds_to_everything" changes="solution"
"""Your step fails for each model that holds something else than trained arrays: you add `None` to a function or a number, as `optax.apply_updates` does with the whole model. There is an update for the trained leaves only."""
-    return eqx.apply_updates(model, updates), state
+    return optax.apply_updates(model, updates), state


# %% exercise="train_step" misconception="a_memory_that_is_lost" section="an-optimiser-is-a-function-on-trees" changes="solution"
"""Your first step is right, and later ones forget the steps before: each begins with a first state, because you make a new one, or return the old one. Optax changes no state; `update` takes one, and returns the next."""
-    updates, state = optimiser.update(grads, state, params)
+    updates, state = optimiser.update(grads, start(model, optimiser), params)


# %% exercise="train_step" misconception="gradients_are_updates" section="an-optimiser-is-a-function-on-trees" changes="solution"
"""Your models go uphill, by the whole gradient: you add the gradients and not the updates. `optimiser.update` returns the updates first, with the minus and the rate in them."""
-    return eqx.apply_updates(model, updates), state
+    return eqx.apply_updates(model, grads), state


# %% exercise="train_step" misconception="updates_are_subtracted" section="an-optimiser-is-a-function-on-trees" changes="solution"
"""Your models go uphill: you subtract the updates. Optax's updates have their minus already, and are added."""
-    return eqx.apply_updates(model, updates), state
+    return eqx.apply_updates(model, jax.tree.map(jnp.negative, updates)), state


# %% exercise="train_step" misconception="the_model_alone" changes="solution"
"""Your `train_step` returns one thing, the model. Optax keeps its memory in the state: the next step needs the new one too."""
-    return eqx.apply_updates(model, updates), state
+    return eqx.apply_updates(model, updates)


# %% exercise="train_step" misconception="the_old_model" changes="solution"
"""Your model does not move: you return the one that came in. Nothing changes a tree of arrays in place; return the new model."""
-    return eqx.apply_updates(model, updates), state
+    eqx.apply_updates(model, updates)
+    return model, state


# %% exercise="freeze_part" variant="zeros_last"
def freeze_part(model, part, optimiser):
    paths, structure = jax.tree.flatten_with_path(model)
    names = [path[0].name for path, _ in paths]
    mask = structure.unflatten([name == part for name in names])
    return optax.chain(optimiser, optax.masked(optax.set_to_zero(), lambda _: mask))


# %% exercise="freeze_part" variant="an_optimiser_by_hand"
def freeze_part(model, part, optimiser):
    def update(grads, state, params=None):
        updates, state = optimiser.update(grads, state, params)
        kept = jax.tree.map(jnp.zeros_like, getattr(updates, part))
        where = lambda tree: getattr(tree, part)
        return eqx.tree_at(where, updates, kept, is_leaf=lambda x: x is None), state

    return optax.GradientTransformation(optimiser.init, update)


# %% exercise="freeze_part" variant="optax_freezes"
def freeze_part(model, part, optimiser):
    def is_frozen(path, _):
        return keystr(path).split(".")[1].split("[")[0] == part

    mask = jax.tree.map_with_path(is_frozen, model)
    return optax.chain(optimiser, optax.transforms.freeze(mask))


# %% exercise="freeze_part" misconception="labels_that_are_called" met="google-deepmind/optax#1007, patrick-kidger/equinox#193, patrick-kidger/equinox#266" changes="solution"
"""Your optimiser is right for a model without `__call__`, and raises an error for others. The tree of labels is an object of the model's class, so it can be called too: Optax takes it for a function that makes labels, and calls it with the parameters. Give Optax a real function, which returns the labels."""
-    return optax.multi_transform(ways, lambda params: labels)
+    return optax.multi_transform(ways, labels)


# %% exercise="freeze_part" misconception="labels_that_do_not_fit" met="google-deepmind/optax#1148, patrick-kidger/equinox#79, patrick-kidger/equinox#794"
"""Optax refuses your labels: their tree does not fit the model, or a label has no optimiser. A few labels are enough, but only in nodes of the model's own types: a dict or a list is another node, and `None` is a node without a leaf. A map over the model makes labels that fit."""


def freeze_part(model, part, optimiser):
    fields = [path[0].name for path, _ in jax.tree.leaves_with_path(model)]
    labels = {name: "frozen" if name == part else "train" for name in fields}
    ways = {"train": optimiser, "frozen": optax.set_to_zero()}
    return optax.multi_transform(ways, labels)


# %% exercise="freeze_part" misconception="masked_freezes" changes="zeros_last"
"""Your frozen part moves, and goes uphill: its gradients come out as they are, and are added. That is what `optax.masked` does where the mask is False, and `optax.identity` does: they leave out, and freeze nothing."""
-    mask = structure.unflatten([name == part for name in names])
-    return optax.chain(optimiser, optax.masked(optax.set_to_zero(), lambda _: mask))
+    mask = structure.unflatten([name != part for name in names])
+    return optax.masked(optimiser, lambda _: mask)


# %% exercise="freeze_part" misconception="zero_gradients_first" met="OPTML-Group/Unlearn-Saliency#32, patrick-kidger/equinox#866" changes="zeros_last"
"""Your frozen part stays with plain steps, and shrinks with weight decay: its gradients are zero before the optimiser sees them, as `stop_gradient` makes them too. Decay needs no gradient to move a parameter. Set the updates to zero, after the optimiser."""
-    return optax.chain(optimiser, optax.masked(optax.set_to_zero(), lambda _: mask))
+    return optax.chain(optax.masked(optax.set_to_zero(), lambda _: mask), optimiser)


# %% exercise="freeze_part" misconception="the_part_anywhere" section="freezing-by-labels" changes="solution"
"""Leaves of other parts are frozen too: you look for the name anywhere in the path. A part may hold a field or a key with the same name; the model's own field is the first entry."""
-        return "frozen" if keystr(path[:1], simple=True) == part else "train"
+        names = [keystr((entry,), simple=True) for entry in path]
+        return "frozen" if part in names else "train"


# %% exercise="freeze_part" misconception="begins_like_the_part" section="freezing-by-labels" changes="solution"
"""With `body`, you freeze `body2` as well: you ask whether the path begins with the name. A name may be the beginning of another; compare the whole first entry."""
-        return "frozen" if keystr(path[:1], simple=True) == part else "train"
+        return "frozen" if keystr(path, simple=True).startswith(part) else "train"


# %% exercise="freeze_part" misconception="the_name_in_the_text" section="freezing-by-labels" changes="solution"
"""You freeze too much: you look for the name in the text of the path. There, `body` is found in `body2`, and inside other parts. Compare the path's first entry."""
-        return "frozen" if keystr(path[:1], simple=True) == part else "train"
+        return "frozen" if part in keystr(path) else "train"


# %% exercise="freeze_part" misconception="a_dot_and_the_name" section="freezing-by-labels" changes="the_name_in_the_text"
"""You freeze too much: you look for a dot and the name in the text of the path. `.body` is found in `.body2`, and where another part has a field of this name. Compare the path's first entry."""
-        return "frozen" if part in keystr(path) else "train"
+        return "frozen" if f".{part}" in keystr(path) else "train"


# %% exercise="freeze_part" misconception="known_by_identity" section="freezing-by-labels" changes="solution"
"""Where two fields share one array, you freeze both: you ask which arrays the part holds. One array may lie in two places of a tree. A place is known by its path."""
-        return "frozen" if keystr(path[:1], simple=True) == part else "train"
+        return "frozen" if any(leaf is x for x in jax.tree.leaves(getattr(model, part))) else "train"


# %% exercise="freeze_part" misconception="entries_are_texts" section="freezing-by-labels" changes="solution"
"""Nothing is frozen. Perhaps you compare an entry of a path with a string: it is an object such as `GetAttrKey(name='body')`, which never equals one. Its `name`, or `keystr`, gives the text."""
-        return "frozen" if keystr(path[:1], simple=True) == part else "train"
+        return "frozen" if path[0] == part else "train"


# %% exercise="freeze_part" misconception="the_last_name" section="freezing-by-labels" changes="solution"
"""You look at the last entry of a path. In a nested model, that is the name of a leaf inside a part; the part is the first entry."""
-        return "frozen" if keystr(path[:1], simple=True) == part else "train"
+        return "frozen" if keystr(path[-1:], simple=True) == part else "train"


# %% exercise="freeze_part" misconception="only_the_part_trains" section="freezing-by-labels" changes="solution"
"""Your labels are the wrong way round: the part trains, and all others are frozen."""
-        return "frozen" if keystr(path[:1], simple=True) == part else "train"
+        return "train" if keystr(path[:1], simple=True) == part else "frozen"


# %% exercise="freeze_part" misconception="labels_are_true" section="freezing-by-labels" changes="zeros_last"
"""Nothing moves: your mask holds texts, and a text that is not empty counts as True. A mask needs True and False."""
-    mask = structure.unflatten([name == part for name in names])
+    mask = structure.unflatten(["frozen" if name == part else "train" for name in names])


# %% exercise="freeze_part" misconception="nothing_trains_the_rest" changes="zeros_last"
"""Your part is frozen, and all others go uphill: the `optimiser` that comes in is never used, so their gradients come out as they are, and are added."""
-    return optax.chain(optimiser, optax.masked(optax.set_to_zero(), lambda _: mask))
+    return optax.masked(optax.set_to_zero(), lambda _: mask)


# %% exercise="freeze_part" misconception="another_optimiser" changes="solution"
"""Your optimiser is right for plain steps only: it is always the same one. Train the other leaves with the `optimiser` that comes in, which may have a memory, or decay."""
-    ways = {"train": optimiser, "frozen": optax.set_to_zero()}
+    ways = {"train": optax.sgd(0.25), "frozen": optax.set_to_zero()}


# %% exercise="freeze_part" misconception="labels_for_optax" changes="solution"
"""You return labels, and no optimiser. The caller needs something with `init` and `update`."""
-    ways = {"train": optimiser, "frozen": optax.set_to_zero()}
-    return optax.multi_transform(ways, lambda params: labels)
+    return labels


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
"""Your first steps are about three times too long: `m` and `v` are used as they are. Both start at 0 and need many steps to reach their true size. `v` needs far more steps than `m`."""


def adam_start(params):
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"m": zeros, "v": zeros, "t": 0}


def adam_step(params, grads, state, rate):
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, state["v"], grads)
    params = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), params, m, v)
    return params, {"m": m, "v": v, "t": state["t"] + 1}


# %% exercise="adam" misconception="a_tree_of_triples" met="metaopt/optree#126" section="an-optimiser-is-a-function-on-trees" changes="solution"
"""Your step works for one bare array, and not for other trees: you unpack the result of `jax.tree.map` into three. It is one tree, with a tuple in place of each leaf. Write a map for each of the three."""
-    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
-    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, state["v"], grads)
...
-    def update(p, m, v):
-        m, v = m / (1 - 0.9**t), v / (1 - 0.999**t)
-        return p - rate * m / (jnp.sqrt(v) + 1e-8)
+    def update(p, g, m, v):
+        m = 0.9 * m + 0.1 * g
+        v = 0.999 * v + 0.001 * g**2
+        return p - rate * m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8), m, v
...
-    return jax.tree.map(update, params, m, v), {"m": m, "v": v, "t": t}
+    params, m, v = jax.tree.map(update, params, grads, state["m"], state["v"])
+    return params, {"m": m, "v": v, "t": t}


# %% exercise="adam" misconception="state_changed_in_place" changes="solution"
"""The state that your `adam_step` was given is no longer what it was: you write the new `t`, `m` and `v` into its dict. The old state belongs to the caller, who may need it again."""
-    t = state["t"] + 1
-    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
-    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, state["v"], grads)
+    state["t"] += 1
+    t = state["t"]
+    state["m"] = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
+    state["v"] = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, state["v"], grads)
...
-    return jax.tree.map(update, params, m, v), {"m": m, "v": v, "t": t}
+    return jax.tree.map(update, params, state["m"], state["v"]), state


# %% exercise="adam" misconception="counts_from_zero" changes="solution"
"""Your first step is `nan`, because the corrections use the old count. With `t` = 0, `1 - 0.9ᵗ` is 0. Add 1 to the count before using it."""
-    t = state["t"] + 1
+    t = jnp.asarray(state["t"], jnp.float32)
...
-    return jax.tree.map(update, params, m, v), {"m": m, "v": v, "t": t}
+    return jax.tree.map(update, params, m, v), {"m": m, "v": v, "t": state["t"] + 1}


# %% exercise="adam" misconception="the_count_stands_still" changes="solution"
"""Your first step is right, the later steps are too long, and `t` does not grow. So the corrections are those of the first step in every step. Return the new `t` in the state."""
-    return jax.tree.map(update, params, m, v), {"m": m, "v": v, "t": t}
+    return jax.tree.map(update, params, m, v), {"m": m, "v": v, "t": state["t"]}


# %% exercise="adam" misconception="zero_over_zero" changes="solution"
"""Your parameters become `nan` where the gradient has always been 0: 0 / 0. A small number in the denominator prevents this."""
-        m, v = m / (1 - 0.9**t), v / (1 - 0.999**t)
-        return p - rate * m / (jnp.sqrt(v) + 1e-8)
+        return p - rate * m / (1 - 0.9**t) / jnp.sqrt(v / (1 - 0.999**t))


# %% exercise="adam" misconception="small_number_under_the_root" changes="solution"
"""Your steps are too short where gradients are tiny: the 1e-8 is added before the root is taken. There it has the effect of a gradient of 0.0001. Add it after the root."""
-        return p - rate * m / (jnp.sqrt(v) + 1e-8)
+        return p - rate * m / jnp.sqrt(v + 1e-8)


# %% exercise="adam" misconception="no_square" changes="solution"
"""Your `v` can be negative, and then its root is `nan`. `v` has to average the squares of the gradients, and a square is never negative."""
-    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, state["v"], grads)
+    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g, state["v"], grads)


# %% exercise="adam" misconception="no_root" changes="solution"
"""Your `m`, `v` and `t` are right, but you divide by `v` without its root: large gradients give short steps, and small ones long steps. `v` averages squares, so its size is that of a gradient squared."""
-        return p - rate * m / (jnp.sqrt(v) + 1e-8)
+        return p - rate * m / (v + 1e-8)


# %% exercise="adam" misconception="the_decays_change_places" changes="solution"
"""Your `m` is too small and your `v` too large: 0.9 and 0.999 are swapped. `m` follows the newest gradients quickly; `v` is a slow average."""
-    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
-    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, state["v"], grads)
+    m = jax.tree.map(lambda m, g: 0.999 * m + 0.001 * g, state["m"], grads)
+    v = jax.tree.map(lambda v, g: 0.9 * v + 0.1 * g**2, state["v"], grads)
...
-        m, v = m / (1 - 0.9**t), v / (1 - 0.999**t)
+        m, v = m / (1 - 0.999**t), v / (1 - 0.9**t)


# %% exercise="adam" misconception="keeps_the_corrected_averages" changes="no_correction"
"""Your first steps from zeros are right, but the `m` and `v` that you return have the correction in them, and the next step corrects them once more. Use the corrected numbers for the new parameters only."""
-    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state["m"], grads)
-    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, state["v"], grads)
+    t = state["t"] + 1
+    m = jax.tree.map(lambda m, g: (0.9 * m + 0.1 * g) / (1 - 0.9**t), state["m"], grads)
+    v = jax.tree.map(lambda v, g: (0.999 * v + 0.001 * g**2) / (1 - 0.999**t), state["v"], grads)
...
-    return params, {"m": m, "v": v, "t": state["t"] + 1}
+    return params, {"m": m, "v": v, "t": t}


# %% exercise="adam" misconception="the_count_has_no_value" section="one-jitted-step" changes="solution"
"""Your steps are right, but under `jax.jit` the call fails: an `if`, `int` or a function of `math` asks for the value of `t`. While JAX traces, the count is a tracer without a value; arithmetic works with it as it is."""
-    t = state["t"] + 1
+    t = int(state["t"]) + 1


# %% exercise="adam" misconception="every_tuple_is_a_triple" section="an-optimiser-is-a-function-on-trees" changes="a_tree_of_triples"
"""Your step is wrong where the parameters hold a tuple or a namedtuple: your function returns three things, and `is_leaf` finds them by asking for a tuple. But the tuples of the tree are tuples too."""
-        m = 0.9 * m + 0.1 * g
-        v = 0.999 * v + 0.001 * g**2
-        return p - rate * m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8), m, v
+        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
+        step = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8)
+        return p - rate * step, m, v
...
-    params, m, v = jax.tree.map(update, params, grads, state["m"], state["v"])
-    return params, {"m": m, "v": v, "t": t}
+    def pick(at):
+        return jax.tree.map(lambda three: three[at], threes, is_leaf=lambda x: isinstance(x, tuple))
+
+    threes = jax.tree.map(update, params, grads, state["m"], state["v"])
+    return pick(0), {"m": pick(1), "v": pick(2), "t": t}


# %% exercise="adam" misconception="tiny_number_before_the_correction" changes="solution"
"""Your steps are too short where gradients are tiny: the 1e-8 is added to the root of `v` before `v` is corrected. Add it to the root of the corrected `v`."""
-        m, v = m / (1 - 0.9**t), v / (1 - 0.999**t)
-        return p - rate * m / (jnp.sqrt(v) + 1e-8)
+        scale = jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
+        return p - rate * scale * m / (jnp.sqrt(v) + 1e-8)


# %% exercise="adam" misconception="root_before_the_correction" changes="solution"
"""Your `m`, `v` and `t` are right, and your first steps have the wrong length: the root of `v` is taken first, and then divided by `1 - 0.999ᵗ`. Correct `v`, then take its root."""
-        m, v = m / (1 - 0.9**t), v / (1 - 0.999**t)
-        return p - rate * m / (jnp.sqrt(v) + 1e-8)
+        return p - rate * (m / (1 - 0.9**t)) / (jnp.sqrt(v) / (1 - 0.999**t) + 1e-8)


# %% exercise="adam" misconception="sizes_for_squares" changes="solution"
"""Your `v` averages the sizes of the gradients, without their sign. It should average their squares."""
-    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, state["v"], grads)
+    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * jnp.abs(g), state["v"], grads)


# %% exercise="adam" misconception="the_gradient_in_place_of_m" changes="solution"
"""Your `m`, `v` and `t` are right, but the gradient itself moves the parameters. The step divides the corrected `m` by the root."""
-    def update(p, m, v):
-        m, v = m / (1 - 0.9**t), v / (1 - 0.999**t)
-        return p - rate * m / (jnp.sqrt(v) + 1e-8)
+    def update(p, g, v):
+        return p - rate * g / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8)
...
-    return jax.tree.map(update, params, m, v), {"m": m, "v": v, "t": t}
+    return jax.tree.map(update, params, grads, v), {"m": m, "v": v, "t": t}


# %% exercise="adam" misconception="state_first" changes="solution"
"""Your two results are swapped: the new parameters come first, then the new state."""
-    return jax.tree.map(update, params, m, v), {"m": m, "v": v, "t": t}
+    return {"m": m, "v": v, "t": t}, jax.tree.map(update, params, m, v)


# %% exercise="adam" misconception="one_zero_for_all" changes="solution"
"""Your state starts with one number for `m` and one for `v`. Each has to be a tree like the parameters, with zeros: it remembers something for every parameter."""
-    zeros = jax.tree.map(jnp.zeros_like, params)
-    return {"m": zeros, "v": zeros, "t": 0}
+    return {"m": 0.0, "v": 0.0, "t": 0}


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
"""The names in your file are `arr_0`, `arr_1` and so on, not paths, so `load` can only go by order. Where `like` asks for a part of the tree, a leaf gets the numbers of another leaf, and no error tells you."""


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


# %% exercise="save_and_load" misconception="names_forgotten_in_load" changes="solution"
"""Your `load` takes the arrays in their order, whatever their names are. This works as long as both trees have the same structure. Otherwise a leaf gets the numbers of another leaf."""
     with np.load(file) as arrays:
+        names = iter(arrays.files)
...
-            name = jax.tree_util.keystr(path, simple=True, separator="/")
+            name = next(names)


# %% exercise="save_and_load" misconception="brackets_in_the_names" section="save-and-load" changes="solution"
"""The names in your file have brackets and quotes: `keystr(path)` writes them. With its options `simple` and `separator`, `keystr` writes plain entries with slashes between them."""
-        arrays[jax.tree_util.keystr(path, simple=True, separator="/")] = np.asarray(leaf)
+        arrays[jax.tree_util.keystr(path)] = np.asarray(leaf)
...
-            name = jax.tree_util.keystr(path, simple=True, separator="/")
+            name = jax.tree_util.keystr(path)


# %% exercise="save_and_load" misconception="missing_stays_as_it_is" changes="solution"
"""When a path is not in the file, you keep what `like` has there. The caller gets a tree that looks complete. Some of its numbers were never trained, and no error tells the caller."""
             name = jax.tree_util.keystr(path, simple=True, separator="/")
+            if name not in arrays:
+                return leaf


# %% exercise="save_and_load" misconception="any_shape_will_do" changes="solution"
"""You return an array of another shape than `like` asks for. The mistake then shows far from here, in a matrix product. Where NumPy's broadcasting stretches the shape, it does not show at all."""
-            if arrays[name].shape != leaf.shape:
-                raise ValueError(f"{name} has shape {arrays[name].shape}, not {leaf.shape}")


# %% exercise="save_and_load" misconception="whole_numbers_through_float32" changes="solution"
"""Your dtypes are right, but large whole numbers lose their last digits on the way: they pass through `float32`. It has 24 bits for the digits of a number; `int32` has more."""
-        arrays[jax.tree_util.keystr(path, simple=True, separator="/")] = np.asarray(leaf)
+        arrays[jax.tree_util.keystr(path, simple=True, separator="/")] = np.asarray(leaf, np.float32)
...
-            return jnp.asarray(arrays[name])
+            return jnp.asarray(arrays[name], leaf.dtype)


# %% exercise="save_and_load" misconception="made_to_fit" changes="solution"
"""Your `load` accepts an array of another shape, if it has as many numbers as the leaf of `like`: you reshape the array. Then the rows and columns of a matrix mean something else, and no error tells you."""
-            if arrays[name].shape != leaf.shape:
-                raise ValueError(f"{name} has shape {arrays[name].shape}, not {leaf.shape}")
-            return jnp.asarray(arrays[name])
+            return jnp.asarray(arrays[name]).reshape(leaf.shape)


# %% exercise="save_and_load" misconception="stretched_to_fit" changes="solution"
"""Your `load` accepts a smaller array, if broadcasting can stretch it to the shape of `like`. Then one number may fill a whole leaf, and no error tells you."""
-            if arrays[name].shape != leaf.shape:
-                raise ValueError(f"{name} has shape {arrays[name].shape}, not {leaf.shape}")
-            return jnp.asarray(arrays[name])
+            return jnp.broadcast_to(arrays[name], leaf.shape)


# %% exercise="save_and_load" misconception="nothing_else_in_the_file" changes="solution"
"""Your `load` refuses a file that holds more arrays than `like` has leaves. But people often load only a part of the tree, such as the first layers of a trained model: the other arrays do no harm."""
     with np.load(file) as arrays:
+        if len(arrays.files) != len(jax.tree.leaves(like)):
+            raise KeyError(f"{arrays.files}")


# %% exercise="save_and_load" misconception="the_order_of_the_file" changes="names_forgotten_in_load"
"""Where `like` asks for a part of the saved tree, your `load` gives a leaf the numbers of another one, or refuses a shape that fits: it takes the arrays in the order of the file. Take each array by the name of its leaf."""
-            name = next(names)
+            if jax.tree_util.keystr(path, simple=True, separator="/") not in arrays:
+                raise KeyError(path)
+            name = next(names)


# %% exercise="save_and_load" misconception="an_assert_for_the_shape" changes="solution"
"""Where a shape differs, you raise an `AssertionError`. The task asks for a `ValueError`; `assert` is for mistakes in your own code, and `python -O` leaves it out."""
-            if arrays[name].shape != leaf.shape:
-                raise ValueError(f"{name} has shape {arrays[name].shape}, not {leaf.shape}")
+            assert arrays[name].shape == leaf.shape


# %% exercise="save_and_load" misconception="every_entry_has_a_key" changes="solution"
"""Your `save` fails where a leaf lies in a list, a tuple or another node that is not a dict: you read the `key` of each entry of the path. An entry of a list or a tuple has an `idx` instead; `keystr` writes every kind."""
-        arrays[jax.tree_util.keystr(path, simple=True, separator="/")] = np.asarray(leaf)
+        arrays["/".join(str(entry.key) for entry in path)] = np.asarray(leaf)
...
-            name = jax.tree_util.keystr(path, simple=True, separator="/")
+            name = "/".join(str(entry.key) for entry in path)


# %% exercise="save_and_load" misconception="no_separator" changes="solution"
"""The names in your file have nothing between the entries of a path. The task asks for slashes: without `separator`, `keystr` writes the entries one after the other."""
-        arrays[jax.tree_util.keystr(path, simple=True, separator="/")] = np.asarray(leaf)
+        arrays[jax.tree_util.keystr(path, simple=True)] = np.asarray(leaf)
...
-            name = jax.tree_util.keystr(path, simple=True, separator="/")
+            name = jax.tree_util.keystr(path, simple=True)


# %% exercise="save_and_load" misconception="a_flat_dict_back" changes="solution"
"""Your `load` returns a flat dict, with the paths as keys. It has to return a tree like `like`: the names say where in the tree each array belongs."""
-        def read(path, leaf):
+        new = {}
+        for path, leaf in jax.tree.leaves_with_path(like):
...
-            return jnp.asarray(arrays[name])
-
-        return jax.tree.map_with_path(read, like)
+            new[name] = jnp.asarray(arrays[name])
+    return new


# %% exercise="save_and_load" misconception="dicts_made_of_names" met="google/orbax#683" changes="a_flat_dict_back"
"""Your trees have another structure than `like`: lists, tuples and other nodes have become dicts, because the tree is built from the names in the file. Names do not tell a list from a dict, and `None` has no name. Take the structure of `like`."""
-            new[name] = jnp.asarray(arrays[name])
+            *parts, last = name.split("/")
+            place = new
+            for part in parts:
+                place = place.setdefault(part, {})
+            place[last] = jnp.asarray(arrays[name])


# %% exercise="save_and_load" misconception="counts_numbers_only" changes="solution"
"""Your `load` returns an array of another shape if it has as many numbers as the leaf of `like`: you compare the sizes. Compare the shapes themselves."""
-            if arrays[name].shape != leaf.shape:
+            if arrays[name].size != leaf.size:


# %% exercise="save_and_load" misconception="the_old_file_is_kept" changes="solution"
"""Where the file was there already, your file has names of the tree that was saved before: the old arrays are kept. The file is replaced: it has the leaves of the last tree only."""
+import os
+
+
 def save(file, tree):
...
-    arrays = {}
+    arrays = dict(np.load(file)) if os.path.exists(file) else {}


# %% exercise="save_and_load" misconception="reshaped_by_numpy" changes="solution"
"""Your `load` accepts an array of another shape, if it has as many numbers as the leaf of `like`: you reshape the array. Then the rows and columns of a matrix mean something else, and no error tells you. Compare the shapes first."""
-            if arrays[name].shape != leaf.shape:
-                raise ValueError(f"{name} has shape {arrays[name].shape}, not {leaf.shape}")
-            return jnp.asarray(arrays[name])
+            return jnp.asarray(arrays[name].reshape(leaf.shape))


# %% exercise="deep_forward" variant="scan_over_pairs"
def deep_forward(stacked, x):
    def apply(x, layer):
        w, b = layer
        x = jnp.maximum(jnp.dot(x, w) + b, 0)
        return x, x

    _, every = jax.lax.scan(apply, x, (stacked["weight"], stacked["bias"]))
    return every[-1], every


# %% exercise="deep_forward" variant="by_fori_loop"
def deep_forward(stacked, x):
    count, size = stacked["bias"].shape

    def body(i, carry):
        x, every = carry
        layer = jax.tree.map(lambda leaf: leaf[i], stacked)
        x = jax.nn.relu(x @ layer["weight"] + layer["bias"])
        return x, every.at[i].set(x)

    return jax.lax.fori_loop(0, count, body, (x, jnp.zeros((count, size))))


# %% exercise="deep_forward" misconception="python_loop" met="patrick-kidger/equinox#246"
"""Your numbers are right, but your program grows with each layer. A Python loop runs while JAX traces, and adds its operations to the program in each iteration. So a deep network compiles slowly."""


def deep_forward(stacked, x):
    every = []
    for w, b in zip(stacked["weight"], stacked["bias"]):
        x = jax.nn.relu(x @ w + b)
        every.append(x)
    return x, jnp.stack(every)


# %% exercise="deep_forward" misconception="layers_side_by_side"
"""Each of your layers takes the input `x` itself, as with `jax.vmap`. In a network, each layer takes the output of the layer before."""


def deep_forward(stacked, x):
    every = jax.vmap(lambda layer: jax.nn.relu(x @ layer["weight"] + layer["bias"]))(stacked)
    return every[-1], every


# %% exercise="deep_forward" misconception="carry_and_rows_change_places" changes="solution"
"""Your two results are swapped. `scan` returns the last carry first, and then the stacked rows."""
-    return jax.lax.scan(apply, x, stacked)
+    last, every = jax.lax.scan(apply, x, stacked)
+    return every, last


# %% exercise="deep_forward" misconception="one_result_from_the_body" changes="solution"
"""Every call raises a `TypeError`: the function in your `scan` returns one array. JAX expects a pair: the carry for the next turn, and the row to stack."""
-        x = jax.nn.relu(x @ layer["weight"] + layer["bias"])
-        return x, x
+        return jax.nn.relu(x @ layer["weight"] + layer["bias"])


# %% exercise="deep_forward" misconception="stacks_the_inputs" changes="solution"
"""Your last output is right, but the rows are one layer late: the first one is `x` itself. The function in your `scan` stacks the input of each layer. Stack its output."""
-        x = jax.nn.relu(x @ layer["weight"] + layer["bias"])
-        return x, x
+        return jax.nn.relu(x @ layer["weight"] + layer["bias"]), x


# %% exercise="deep_forward" misconception="stacks_before_relu" changes="solution"
"""Your last output is right, but the rows have negative numbers: you stack the numbers before ReLU."""
-        x = jax.nn.relu(x @ layer["weight"] + layer["bias"])
-        return x, x
+        before = x @ layer["weight"] + layer["bias"]
+        return jax.nn.relu(before), before


# %% exercise="deep_forward" misconception="no_relu" changes="solution"
"""Your outputs can be negative: ReLU is missing. Without ReLU, many linear layers are the same as one linear layer."""
-        x = jax.nn.relu(x @ layer["weight"] + layer["bias"])
+        x = x @ layer["weight"] + layer["bias"]


# %% exercise="deep_forward" misconception="last_layer_first" changes="solution"
"""Your network runs from the last layer to the first. With one layer that makes no difference. `scan` begins at row 0, unless you say `reverse=True`."""
-    return jax.lax.scan(apply, x, stacked)
+    return jax.lax.scan(apply, x, stacked, reverse=True)


# %% exercise="deep_forward" misconception="scans_over_the_input" changes="solution"
"""Every call fails: `x` and the layers are swapped in your `scan`. `scan` goes along the first axis of its last argument. Its second argument is the first carry."""
-    def apply(x, layer):
+    def apply(layer, x):
...
-    return jax.lax.scan(apply, x, stacked)
+    return jax.lax.scan(apply, stacked, x)


# %% exercise="deep_forward" misconception="relu_for_the_rows_only"
"""Your rows are right for the first layer, but the next layer gets numbers without ReLU: your carry has the numbers before ReLU. Here the carry and the row to stack are the same."""


def deep_forward(stacked, x):
    def apply(x, layer):
        before = x @ layer["weight"] + layer["bias"]
        return before, jax.nn.relu(before)

    last, every = jax.lax.scan(apply, x, stacked)
    return jax.nn.relu(last), every


# %% exercise="deep_forward" misconception="weights_first" section="forward-and-vmap" changes="solution"
"""Your layers compute `weight @ x`, which equals `x @ weight.T`. A square matrix raises no error there and gives other numbers. In `x @ weight`, the rows of `weight` belong to the inputs."""
-        x = jax.nn.relu(x @ layer["weight"] + layer["bias"])
+        x = jax.nn.relu(layer["weight"] @ x + layer["bias"])


# %% exercise="deep_forward" misconception="bias_after_relu" section="forward-and-vmap" changes="solution"
"""Your outputs can be negative, because you add the bias after ReLU. Add the bias before ReLU: `relu(x @ weight + bias)`."""
-        x = jax.nn.relu(x @ layer["weight"] + layer["bias"])
+        x = jax.nn.relu(x @ layer["weight"]) + layer["bias"]


# %% exercise="deep_forward" misconception="no_relu_at_the_end" changes="stacks_before_relu"
"""Your last layer has no ReLU, as in a network whose outputs are logits. Here every layer computes the same, also the last one."""
-    return jax.lax.scan(apply, x, stacked)
+    _, every = jax.lax.scan(apply, x, stacked)
+    return every[-1], jnp.concatenate([jax.nn.relu(every[:-1]), every[-1:]])


# %% exercise="deep_forward" misconception="no_rows" changes="solution"
"""Your second result is `None`: the function in your `scan` returns `None` beside the carry. `scan` stacks the second thing that it returns, and not the carries."""
-        x = jax.nn.relu(x @ layer["weight"] + layer["bias"])
-        return x, x
+        return jax.nn.relu(x @ layer["weight"] + layer["bias"]), None


# %% exercise="deep_forward" misconception="a_list_keeps_tracers"
"""Every call raises an error about a tracer that has left its function: your loop's function appends to a Python list. JAX runs it once, while it traces; what should come out of it has to be returned."""


def deep_forward(stacked, x):
    every = []

    def body(place, x):
        x = jax.nn.relu(x @ stacked["weight"][place] + stacked["bias"][place])
        every.append(x)
        return x

    last = jax.lax.fori_loop(0, stacked["bias"].shape[0], body, x)
    return last, jnp.stack(every)


# %% exercise="deep_forward" misconception="the_input_is_a_row_too" changes="solution"
"""Your second result has one row too many: the first one is `x` itself. The rows are the outputs of the layers."""
-    return jax.lax.scan(apply, x, stacked)
+    last, every = jax.lax.scan(apply, x, stacked)
+    return last, jnp.concatenate([x[None], every])


# %% exercise="deep_forward" misconception="the_last_output_only" changes="solution"
"""You return one array, the output of the last layer. Return the outputs of all layers after it: `scan` stacks them."""
-    return jax.lax.scan(apply, x, stacked)
+    last, _ = jax.lax.scan(apply, x, stacked)
+    return last


# %% exercise="deep_forward" misconception="the_rows_only" changes="solution"
"""You return one array, the outputs of all layers. Return the output of the last layer before it."""
-    return jax.lax.scan(apply, x, stacked)
+    _, every = jax.lax.scan(apply, x, stacked)
+    return every


# %% exercise="deep_forward" misconception="a_list_of_outputs" changes="python_loop"
"""Your outputs of all layers are a list, and your program grows with each layer. A Python loop runs while JAX traces, and adds its operations in each iteration. `scan` traces one layer, and stacks the rows."""
-    return x, jnp.stack(every)
+    return x, every


# %% exercise="deep_forward" misconception="relu_before_the_layer" changes="solution"
"""Your outputs can be negative, and negative numbers of the input become 0. ReLU belongs after the `x @ weight + bias` of a layer."""
-        x = jax.nn.relu(x @ layer["weight"] + layer["bias"])
+        x = jax.nn.relu(x) @ layer["weight"] + layer["bias"]


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
    return jax.tree.map(lambda a, p: (decay * a + (1 - decay) * p).astype(a.dtype), average, params)


# %% exercise="moving_average" misconception="rounded_between_the_steps" changes="starter"
"""Your average starts in `float32`, but after a step a leaf has the dtype of the new parameter again, such as `bfloat16`. Then each step is rounded to this dtype, and small steps are lost."""
-    return params
+    def is_float(p):
+        return jnp.issubdtype(p.dtype, jnp.floating)
+
+    return jax.tree.map(lambda p: p.astype(jnp.float32) if is_float(p) else p, params)
...
     """Return the average after one more step of training gave `params`."""
-
...
-        return (decay * a + (1 - decay) * p).astype(a.dtype)
+        if not jnp.issubdtype(p.dtype, jnp.floating):
+            return p
+        return (decay * a + (1 - decay) * p.astype(jnp.float32)).astype(p.dtype)


# %% exercise="moving_average" misconception="numpy_knows_bfloat16" changes="rounded_between_the_steps"
"""Your `float32` leaves are averaged, and your `bfloat16` leaves are treated like whole numbers. For `np.issubdtype`, `bfloat16` is not floating-point; `jnp.issubdtype` knows that it is."""
-        return jnp.issubdtype(p.dtype, jnp.floating)
+        return np.issubdtype(p.dtype, np.floating)
...
-        if not jnp.issubdtype(p.dtype, jnp.floating):
-            return p
-        return (decay * a + (1 - decay) * p.astype(jnp.float32)).astype(p.dtype)
+        is_float = np.issubdtype(p.dtype, np.floating)
+        return decay * a + (1 - decay) * p.astype(jnp.float32) if is_float else p


# %% exercise="moving_average" misconception="averages_the_counter" section="parameters-are-data" changes="rounded_between_the_steps"
"""Your floating-point leaves are right, but the counter is averaged as well and becomes a float. For JAX, a whole number is a leaf like any other leaf. Your function has to treat it in another way."""
-    def update(a, p):
-        if not jnp.issubdtype(p.dtype, jnp.floating):
-            return p
-        return (decay * a + (1 - decay) * p.astype(jnp.float32)).astype(p.dtype)
-
-    return jax.tree.map(update, average, params)
+    return jax.tree.map(lambda a, p: decay * a + (1 - decay) * p, average, params)


# %% exercise="moving_average" misconception="cuts_the_counter" section="parameters-are-data" changes="rounded_between_the_steps"
"""Your floating-point leaves are right, but the counter lags behind: it is averaged, and then cut to a whole number again. A count is no parameter: copy the newest count."""
-    def update(a, p):
-        if not jnp.issubdtype(p.dtype, jnp.floating):
-            return p
-        return (decay * a + (1 - decay) * p.astype(jnp.float32)).astype(p.dtype)
-
-    return jax.tree.map(update, average, params)
+    return jax.tree.map(lambda a, p: (decay * a + (1 - decay) * p).astype(a.dtype), average, params)


# %% exercise="moving_average" misconception="keeps_the_first_counter" section="parameters-are-data" changes="rounded_between_the_steps"
"""Your counter stays at its first value. It is right not to average this leaf. But its number must come from the new parameters."""
-            return p
-        return (decay * a + (1 - decay) * p.astype(jnp.float32)).astype(p.dtype)
+            return a
+        return decay * a + (1 - decay) * p.astype(jnp.float32)


# %% exercise="moving_average" misconception="decay_on_the_new" changes="rounded_between_the_steps"
"""Your average follows the newest parameters closely where it should move little. `decay` is the share of the old average, and `1 - decay` is the share of the new parameters."""
-        return (decay * a + (1 - decay) * p.astype(jnp.float32)).astype(p.dtype)
+        return (1 - decay) * a + decay * p.astype(jnp.float32)


# %% exercise="moving_average" misconception="starts_at_zero" changes="towards_the_new"
"""Your average starts at 0. It then needs many steps to come near the parameters, and until then it is far too small. Start at the parameters."""
-        return p if p.dtype == jnp.int32 else jnp.asarray(p, jnp.float32)
+        is_float = jnp.issubdtype(p.dtype, jnp.floating)
+        return jnp.zeros(p.shape, jnp.float32) if is_float else p
...
-        if a.dtype == jnp.int32:
+        if not jnp.issubdtype(p.dtype, jnp.floating):
...
-        return a + (1 - decay) * (p - a)
+        return decay * a + (1 - decay) * p.astype(jnp.float32)


# %% exercise="moving_average" misconception="every_leaf_is_float32" changes="as_it_was_found"
"""Your whole numbers become `float32` from the start on. (For an array of `int32`, a comparison with Python's `int`, which means `int64`, is False.) `float32` does not hold every large count: leave whole numbers as they are."""
-    return params
+    return jax.tree.map(lambda p: p.astype(jnp.float32), params)
...
-    return jax.tree.map(lambda a, p: (decay * a + (1 - decay) * p).astype(a.dtype), average, params)
+    return jax.tree.map(
+        lambda a, p: decay * a + (1 - decay) * p.astype(jnp.float32), average, params
+    )


# %% exercise="moving_average" misconception="multiplied_before_it_is_cast" changes="rounded_between_the_steps"
"""Your averages of `bfloat16` leaves are float32, but only about three of their digits are right: the parameter is multiplied before it is cast. A Python number does not change the dtype of an array, so the product is rounded to `bfloat16`."""
-        return (decay * a + (1 - decay) * p.astype(jnp.float32)).astype(p.dtype)
+        return decay * a + ((1 - decay) * p).astype(jnp.float32)


# %% exercise="moving_average" misconception="starts_in_the_dtype_of_the_parameters" changes="solution"
"""Your average starts in the dtype of the parameters: in `bfloat16`, where they are. It should be `float32` from the start on."""
-    return jax.tree.map(lambda p: p.astype(jnp.float32) if is_float(p) else p, params)
+    return params
...
     """Return the average after one more step of training gave `params`."""
-


# %% exercise="moving_average" misconception="only_float32_is_averaged" changes="solution"
"""Your `bfloat16` leaves are copied from the new parameters, as whole numbers should be: only `float32` counts as floating-point in your step. `bfloat16` is a floating-point dtype too."""
     """Return the average after one more step of training gave `params`."""
-
...
-        return decay * a + (1 - decay) * p.astype(jnp.float32) if is_float(p) else p
+        return decay * a + (1 - decay) * p if p.dtype == jnp.float32 else p


# %% exercise="moving_average" misconception="copies_of_bfloat16_in_float32" changes="only_float32_is_averaged"
"""Your `bfloat16` leaves are copied from the new parameters, and then made `float32`: they are not averaged, because your step averages `float32` only. `bfloat16` is a floating-point dtype too."""
-        return decay * a + (1 - decay) * p if p.dtype == jnp.float32 else p
+        if p.dtype == jnp.float32:
+            return decay * a + (1 - decay) * p
+        return p.astype(a.dtype)


# %% exercise="moving_average" misconception="rounds_the_counter" section="parameters-are-data" changes="only_float32_is_averaged"
"""Your floating-point leaves are right, but the counter lags behind: it is averaged, and then rounded. A count is no parameter: copy the newest count."""
-        return decay * a + (1 - decay) * p if p.dtype == jnp.float32 else p
+        return (
+            decay * a + (1 - decay) * p.astype(jnp.float32)
+            if is_float(p)
+            else jnp.round(decay * a + (1 - decay) * p).astype(p.dtype)
+        )


# %% exercise="moving_average" misconception="the_counter_through_float32" section="parameters-are-data" changes="only_float32_is_averaged"
"""Your whole numbers are copied, but large ones lose their last digits: they pass through `float32` on the way. It has 24 bits for the digits of a number; `int32` has more."""
-        return decay * a + (1 - decay) * p if p.dtype == jnp.float32 else p
+        return (
+            decay * a + (1 - decay) * p.astype(jnp.float32)
+            if is_float(p)
+            else p.astype(jnp.float32).astype(p.dtype)
+        )


# %% exercise="moving_average" misconception="only_bfloat16_is_widened" changes="towards_the_new"
"""Your `float16` leaves are not averaged in `float32`: your code asks for `bfloat16` by name. `float16` is a floating-point dtype too."""
-        return p if p.dtype == jnp.int32 else jnp.asarray(p, jnp.float32)
+        return p.astype(jnp.float32) if p.dtype == jnp.bfloat16 else p
...
-        if a.dtype == jnp.int32:
+        if p.dtype == jnp.int32:
...
-        return a + (1 - decay) * (p - a)
+        if p.dtype == jnp.bfloat16:
+            p = p.astype(jnp.float32)
+        return decay * a + (1 - decay) * p


# %% exercise="moving_average" misconception="only_the_cast_is_removed" changes="as_it_was_found"
"""Your averages of `bfloat16` leaves are `bfloat16`, and whole numbers are averaged. The cast at the end of a step is not the only mistake: the average has to start in `float32`, and whole numbers have to be copied."""
-    return jax.tree.map(lambda a, p: (decay * a + (1 - decay) * p).astype(a.dtype), average, params)
+    return jax.tree.map(lambda a, p: decay * a + (1 - decay) * p, average, params)


# %% exercise="moving_average" misconception="floats_of_python" changes="starter"
"""No leaf is averaged or converted: the result is always the newest parameters. An array is never a Python float, so `isinstance(leaf, float)` is False for all of them. Ask for the dtype, with `jnp.issubdtype`."""
-    return params
+    return jax.tree.map(lambda p: jnp.float32(p) if isinstance(p, float) else p, params)
...
     """Return the average after one more step of training gave `params`."""
-
...
-        return (decay * a + (1 - decay) * p).astype(a.dtype)
+        return decay * a + (1 - decay) * p if isinstance(p, float) else p


# %% exercise="moving_average" misconception="written_into_nested_dicts" changes="as_it_was_found"
"""Your `average_step` writes into the dicts of the old average, and fails for trees with other nodes. A tree may have lists and tuples too, or be one bare array, and the old average belongs to the caller: `jax.tree.map` makes a new tree of any form."""
-    return params
+    def first(p):
+        return p.astype(jnp.float32) if jnp.issubdtype(p.dtype, jnp.floating) else p
+
+    return jax.tree.map(first, params)
...
-    return jax.tree.map(lambda a, p: (decay * a + (1 - decay) * p).astype(a.dtype), average, params)
+    for key, p in params.items():
+        if isinstance(p, dict):
+            average_step(average[key], p, decay)
+        elif jnp.issubdtype(p.dtype, jnp.floating):
+            average[key] = decay * average[key] + (1 - decay) * p.astype(jnp.float32)
+        else:
+            average[key] = p
+    return average


# %% exercise="target_network" starter=True
def first_state(params):
    """Return the state before the first step."""
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"online": params, "target": params, "mean": zeros, "square": zeros}


def synced(state):
    """Return the state with a target that equals the online network."""
    return {**state, "target": state["online"]}


# %% exercise="target_network" variant="new_arrays_by_arithmetic"
def first_state(params):
    def copied():
        return jax.tree.map(lambda leaf: leaf + 0, params)

    def zeros():
        return jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), params)

    return dict(online=copied(), target=copied(), mean=zeros(), square=zeros())


def synced(state):
    state = dict(state)
    state["target"] = jax.tree.map(jnp.array, state["online"])
    return state


# %% exercise="target_network" variant="a_deep_copy"
from copy import deepcopy


def first_state(params):
    zeros = jax.tree.map(jnp.zeros_like, params)
    return deepcopy({"online": params}) | {
        "target": deepcopy(params),
        "mean": zeros,
        "square": deepcopy(zeros),
    }


def synced(state):
    return state | {"online": deepcopy(state["online"]), "target": state["online"]}


# %% exercise="target_network" variant="through_jit"
@jax.jit
def first_state(params):
    zeros = jax.tree.map(jnp.zeros_like, params)
    return {"online": params, "target": params, "mean": zeros, "square": zeros}


def synced(state):
    return {**state, "target": jax.tree.map(np.array, state["online"])}


# %% exercise="target_network" misconception="a_new_dict_is_a_copy" met="jax-ml/jax#9635, google/flax#5461" changes="starter"
"""A step cannot donate your state: it holds the same arrays in two places. You make new containers, and they hold the old arrays: `dict`, `jax.tree.map(lambda x: x, …)`, `jnp.asarray` and `astype` with the same dtype copy no array."""
-    return {"online": params, "target": params, "mean": zeros, "square": zeros}
+    target = jax.tree.map(jnp.asarray, params)
+    square = jax.tree.map(lambda leaf: leaf, zeros)
+    return {"online": params, "target": target, "mean": zeros, "square": square}


# %% exercise="target_network" misconception="zeros_used_twice" met="jax-ml/jax#9635, google-deepmind/optax#1059" changes="solution"
"""`mean` and `square` hold the same zeros: each array is two leaves of the state, and the step would give its memory away twice. Make zeros for each of the two."""
+    zeros = jax.tree.map(jnp.zeros_like, params)
     return {
...
-        "mean": jax.tree.map(jnp.zeros_like, params),
-        "square": jax.tree.map(jnp.zeros_like, params),
+        "mean": zeros,
+        "square": zeros,


# %% exercise="target_network" misconception="the_callers_arrays" met="poets-ai/elegy#226, jax-ml/jax#7144" section="donation" changes="solution"
"""The caller's `params` are gone after the first step: your online network, or your target, holds the very arrays, and the step donates them. What the caller keeps has to be copied for the state."""
-        "online": jax.tree.map(jnp.copy, params),
+        "online": params,


# %% exercise="target_network" misconception="a_target_without_a_copy" met="google/flax#5461, jax-ml/jax#9635" changes="solution"
"""Your `first_state` holds one array in two places: online network and target have the same leaves, and JAX donates no array twice. `jnp.asarray` and a map that returns its leaf copy no array. A target needs arrays of its own."""
+    online = jax.tree.map(jnp.copy, params)
     return {
-        "online": jax.tree.map(jnp.copy, params),
-        "target": jax.tree.map(jnp.copy, params),
+        "online": online,
+        "target": online,


# %% exercise="target_network" misconception="a_shallow_copy" met="google/flax#5461" section="donation" changes="solution"
"""Your state is right for one bare array. For other trees you copy the outermost container, as `copy.copy`, `dict` or a slice does; in it are the caller's arrays, which the first step donates."""
+from copy import copy
+
+
 def first_state(params):
...
-        "online": jax.tree.map(jnp.copy, params),
-        "target": jax.tree.map(jnp.copy, params),
+        "online": copy(params),
+        "target": copy(params),


# %% exercise="target_network" misconception="synced_by_reference" met="google/flax#5461" changes="solution"
"""After your `synced`, the next step fails: the target is then another name for the online network's arrays. Copy them there too. (One `deepcopy` of the whole state leaves them one: it remembers what it has copied.)"""
-    return {**state, "target": jax.tree.map(jnp.copy, state["online"])}
+    return {**state, "target": state["online"]}


# %% exercise="target_network" misconception="synced_the_other_way" changes="solution"
"""Your `synced` puts the numbers of the target into the online network: what was learned since then is lost. The target gets the online numbers."""
-    return {**state, "target": jax.tree.map(jnp.copy, state["online"])}
+    return {**state, "online": jax.tree.map(jnp.copy, state["target"])}


# %% exercise="target_network" misconception="places_changed" changes="solution"
"""Your `synced` exchanges the two networks: the online one goes back to the old target. Only the target gets new numbers."""
-    return {**state, "target": jax.tree.map(jnp.copy, state["online"])}
+    return {**state, "target": state["online"], "online": state["target"]}


# %% exercise="target_network" misconception="never_synced" changes="solution"
"""Your target never changes: `synced` returns the state as it came in, or a copy with the same numbers."""
-    return {**state, "target": jax.tree.map(jnp.copy, state["online"])}
+    return jax.tree.map(jnp.copy, state)


# %% exercise="target_network" misconception="written_into_the_state" changes="solution"
"""Your `synced` changes the dict that it was given. The caller may still need the old state: return a new dict."""
-    return {**state, "target": jax.tree.map(jnp.copy, state["online"])}
+    state["target"] = jax.tree.map(jnp.copy, state["online"])
+    return state


# %% exercise="target_network" misconception="the_target_alone" changes="solution"
"""Your `synced` returns the target, and nothing else of the state: the next step finds another structure. Every entry comes back, and only the target is new."""
-    return {**state, "target": jax.tree.map(jnp.copy, state["online"])}
+    return {"target": jax.tree.map(jnp.copy, state["online"])}


# %% exercise="target_network" misconception="two_entries_only" changes="solution"
"""Your `synced` loses what else is in the state, so its structure is another one. It returns every entry, and only the target is new."""
-    return {**state, "target": jax.tree.map(jnp.copy, state["online"])}
+    return {"online": state["online"], "target": jax.tree.map(jnp.copy, state["online"])}


# %% exercise="target_network" misconception="the_four_entries_only" changes="solution"
"""Your `synced` returns the four trees, and loses every other entry, such as a step. All else stays."""
-    return {**state, "target": jax.tree.map(jnp.copy, state["online"])}
+    new = {name: state[name] for name in ("online", "mean", "square")}
+    return new | {"target": jax.tree.map(jnp.copy, state["online"])}


# %% exercise="target_network" misconception="a_target_of_zeros" changes="solution"
"""Your target begins with zeros. It begins as a copy of the parameters."""
-        "target": jax.tree.map(jnp.copy, params),
+        "target": jax.tree.map(jnp.zeros_like, params),


# %% exercise="target_network" misconception="a_memory_of_parameters" changes="solution"
"""Your `mean` and `square` begin with the parameters. They are trees of zeros, with the same shapes."""
-        "mean": jax.tree.map(jnp.zeros_like, params),
-        "square": jax.tree.map(jnp.zeros_like, params),
+        "mean": jax.tree.map(jnp.copy, params),
+        "square": jax.tree.map(jnp.copy, params),


# %% exercise="target_network" misconception="a_number_for_the_memory" changes="solution"
"""Your `mean` and `square` are numbers. Each needs a zero for every parameter: a tree like `params`."""
-        "mean": jax.tree.map(jnp.zeros_like, params),
-        "square": jax.tree.map(jnp.zeros_like, params),
+        "mean": 0.0,
+        "square": 0.0,


# %% exercise="target_network" misconception="copies_a_whole_tree" section="a-gradient-is-a-tree" changes="solution"
"""Your functions work for one bare array. `jnp.copy` and `jnp.zeros_like` take an array; `jax.tree.map` applies them to each leaf of a tree."""
-        "online": jax.tree.map(jnp.copy, params),
-        "target": jax.tree.map(jnp.copy, params),
-        "mean": jax.tree.map(jnp.zeros_like, params),
-        "square": jax.tree.map(jnp.zeros_like, params),
+        "online": jnp.copy(params),
+        "target": jnp.copy(params),
+        "mean": jnp.zeros_like(params),
+        "square": jnp.zeros_like(params),


# %% exercise="target_network" misconception="zeros_of_64_bits" changes="solution"
"""Your zeros are NumPy's arrays of `float64`. They need the dtype of the parameters, `float32`: donated memory fits no other."""
-        "mean": jax.tree.map(jnp.zeros_like, params),
-        "square": jax.tree.map(jnp.zeros_like, params),
+        "mean": jax.tree.map(lambda leaf: np.zeros(leaf.shape), params),
+        "square": jax.tree.map(lambda leaf: np.zeros(leaf.shape), params),


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
    leaves = jax.tree.leaves((state["params"], state["optimiser"]))
    arrays = {f"leaf{at}": leaf for at, leaf in enumerate(leaves)}
    np.savez(file, step=state["step"], key=jax.random.key_data(state["key"]), **arrays)


def load_state(file, like):
    leaves, structure = jax.tree.flatten((like["params"], like["optimiser"]))
    with np.load(file) as arrays:
        leaves = [jnp.asarray(arrays[f"leaf{at}"]) for at in range(len(leaves))]
        key = jax.random.wrap_key_data(jnp.asarray(arrays["key"]))
        step = arrays["step"].item()
    params, optimiser = structure.unflatten(leaves)
    return {"params": params, "optimiser": optimiser, "step": step, "key": key}


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


# %% exercise="resume" misconception="the_key_is_not_saved" section="a-key-for-each-layer" changes="solution"
"""Your state has the key of `like`. The next steps draw other random numbers than they would have drawn without the stop. The key belongs to the state, as the parameters do."""
-    return {**state, "step": int(state["step"]), "key": key}
+    return {**state, "step": int(state["step"]), "key": like["key"]}


# %% exercise="resume" misconception="the_optimiser_starts_again" section="an-optimiser-is-a-function-on-trees" changes="solution"
"""The parameters are right, and the first step after loading is not. Your state has the optimiser state of `like`, so the optimiser has forgotten the gradients before the stop. Without its velocity, momentum has to start from zero."""
-    return {**state, "step": int(state["step"]), "key": key}
+    optimiser = like["optimiser"]
+    return {**state, "optimiser": optimiser, "step": int(state["step"]), "key": key}


# %% exercise="resume" misconception="a_key_is_an_array_of_numbers" changes="solution"
"""Your key comes back as an array of plain numbers, of dtype `uint32`. `jax.random` accepts such an array, so nothing complains, but `jit` sees another dtype and traces again. `jax.random.wrap_key_data` makes a key of the numbers."""
-    key = jax.random.wrap_key_data(state["key"])
-    return {**state, "step": int(state["step"]), "key": key}
+    return {**state, "step": int(state["step"])}


# %% exercise="resume" misconception="a_key_is_its_seed" section="a-key-for-each-layer" changes="solution"
"""Your key is right where it was made by `jax.random.key(seed)`, and wrong where `jax.random.split` made it: you save one number of the key as its seed. A key has two numbers, and after a split the first one is not 0."""
-    plain = {**state, "key": jax.random.key_data(state["key"])}
+    plain = {**state, "key": jax.random.key_data(state["key"])[-1]}
...
-    key = jax.random.wrap_key_data(state["key"])
+    key = jax.random.key(int(state["key"]))


# %% exercise="resume" misconception="numpy_takes_every_leaf" changes="solution"
"""Your `save_state` fails. NumPy cannot make an array of a key array: JAX raises a `TypeError` that names `jax.random.key_data`. This function gives you the numbers of the key, and numbers can be saved."""
-    plain = {**state, "key": jax.random.key_data(state["key"])}
-    leaves = jax.tree.leaves_with_path(plain)
+    leaves = jax.tree.leaves_with_path(state)


# %% exercise="resume" misconception="the_step_is_an_array" changes="solution"
"""Your step comes back as an array; it was a Python int. Its number is right, so no error tells you. But for `jit` an array is another type than a Python int, so `jit` traces again. `int(array)` makes a Python int."""
-    return {**state, "step": int(state["step"]), "key": key}
+    return {**state, "key": key}


# %% exercise="resume" misconception="names_in_sorted_order" changes="by_position"
"""Your state is right for a few layers; with more than ten, leaves change places, because the names in the file are sorted. As strings, `10` comes before `2`. Shapes and dtypes fit, so no error tells you. Ask for each leaf by its own name."""
-    leaves = [jnp.asarray(arrays[f"arr_{at}"]) for at in range(structure.num_leaves)]
+    leaves = [jnp.asarray(arrays[name]) for name in sorted(arrays.files)]


# %% exercise="resume" misconception="writes_into_the_state" changes="solution"
"""The state that you were given has changed: its key is an array of plain numbers now, because you write `state["key"] = ...` into the caller's dict. The caller continues to train with this dict. Make a new dict for the file."""
-    plain = {**state, "key": jax.random.key_data(state["key"])}
-    leaves = jax.tree.leaves_with_path(plain)
+    state["key"] = jax.random.key_data(state["key"])
+    leaves = jax.tree.leaves_with_path(state)


# %% exercise="resume" misconception="kept_in_a_variable"
"""Your state is right only if it was the last one saved: `save_state` puts something into a variable, and `load_state` takes it from there. A new process does not have this variable: all that it needs is in the file or in `like`."""
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


# %% exercise="resume" misconception="dicts_made_of_names"
"""Your trees have another structure than `like`: lists, tuples and other nodes have become dicts, because you build the trees from the names in the file. Names do not tell a list from a dict, and `None` and empty containers have no name. Take the structure of `like`."""


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


# %% exercise="resume" misconception="two_trees_with_the_same_names" changes="solution"
"""Your parameters or your optimiser state come back with the numbers of the other one, where both have leaves at the same paths: the names in your file leave out which of the two trees a leaf belongs to."""
-    plain = {**state, "key": jax.random.key_data(state["key"])}
-    leaves = jax.tree.leaves_with_path(plain)
-    arrays = {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}
+    arrays = {"step": state["step"], "key": jax.random.key_data(state["key"])}
+    for entry in ["params", "optimiser"]:
+        for path, leaf in jax.tree.leaves_with_path(state[entry]):
+            arrays[jax.tree_util.keystr(path)] = np.asarray(leaf)
...
-        state = jax.tree.map_with_path(read, like)
+        state = {"step": arrays["step"], "key": arrays["key"]}
+        for entry in ["params", "optimiser"]:
+            state[entry] = jax.tree.map_with_path(read, like[entry])


# %% exercise="resume" misconception="a_second_file" changes="solution"
"""Your `load_state` does not find a file: `save_state` writes a second one beside the first. The state is moved as one file: all that it needs has to be in there."""
-    plain = {**state, "key": jax.random.key_data(state["key"])}
+    plain = {**state, "key": 0}
+    np.save(file + ".key.npy", jax.random.key_data(state["key"]))
...
-    key = jax.random.wrap_key_data(state["key"])
+    key = jax.random.wrap_key_data(np.load(file + ".key.npy"))


# %% exercise="resume" misconception="writes_into_like" changes="solution"
"""The state `like` that you were given has changed: what you have read is written into it. Return a new dict."""
-    return {**state, "step": int(state["step"]), "key": key}
+    like.update({**state, "step": int(state["step"]), "key": key})
+    return like


# %% exercise="resume" misconception="key_and_step_of_like" section="a-key-for-each-layer" changes="entry_by_entry"
"""The parameters and the optimiser state come back, but the step and the key are those of `like`. Both belong to the state: the next steps draw their numbers from the key, and the learning rate may depend on the step."""
-    return {"params": params, "optimiser": optimiser, "step": step, "key": key}
+    return {**like, "params": params, "optimiser": optimiser}


# %% exercise="resume" misconception="a_key_from_the_step" section="a-key-for-each-layer" changes="entry_by_entry"
"""Your key is made from the number of steps, and not the key that was saved. Then the next steps draw other numbers than without the stop. Save the numbers of the key itself: `jax.random.key_data` gives them."""
-        key = jax.random.wrap_key_data(jnp.asarray(arrays["key"]))
+        key = jax.random.key(int(arrays["step"]))


# %% exercise="resume" misconception="numbers_sorted_as_strings" changes="entry_by_entry"
"""With more than ten leaves, your leaves change places, because the names of the arrays are sorted. As strings, `leaf10` comes before `leaf2`. Ask the file for `leaf0`, `leaf1` and so on, one name after the other."""
-        leaves = [jnp.asarray(arrays[f"leaf{at}"]) for at in range(len(leaves))]
+        names = sorted(name for name in arrays.files if name.startswith("leaf"))
+        leaves = [jnp.asarray(arrays[name]) for name in names]


# %% exercise="resume" misconception="trees_saved_whole"
"""Your file holds pickled objects, and loading fails. Your code gives whole trees to `np.savez`. NumPy has no array for a dict or for leaves of several shapes, so it pickles them, and `np.load` refuses that. Save one array for each leaf."""


def save_state(file, state):
    key = jax.random.key_data(state["key"])
    np.savez(file, params=state["params"], optimiser=state["optimiser"], step=state["step"], key=key)


def load_state(file, like):
    with np.load(file) as arrays:
        found = {name: arrays[name] for name in arrays.files}
    key = jax.random.wrap_key_data(jnp.asarray(found["key"]))
    return {**found, "step": int(found["step"]), "key": key}


# %% exercise="resume" misconception="underscores_in_the_names" changes="solution"
"""Some leaves come back with the numbers of another leaf: you join the entries of a path with an underscore. A key may contain one too, so two paths can get the same name. `keystr(path)` gives each path a name of its own."""
-    arrays = {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}
+    names = [jax.tree_util.keystr(path, simple=True, separator="_") for path, _ in leaves]
+    arrays = {name: leaf for name, (_, leaf) in zip(names, leaves)}
...
-            return jnp.asarray(arrays[jax.tree_util.keystr(path)])
+            return jnp.asarray(arrays[jax.tree_util.keystr(path, simple=True, separator="_")])


# %% exercise="predict_restored" starter=True
predictions = {
    "A": ...,  # {"w": (a, a)}: the type of back["w"]
    "B": ...,  # {0: a, 1: a}: the type of the keys of back
    "C": ...,  # {"w": Layer(a, a)}: the type of back["w"]
    "D": ...,  # {"w": Net(a, a)}: the type of back["w"]
    "E": ...,  # {"w": a, "b": None}: how many keys back has
    "F": ...,  # {"step": 3}: the type of back["step"]
    "G": ...,  # optax.adam(0.1).init({"w": a}): the type of back
    "H": ...,  # {"w": (a, a)}, restored as {"w": (a, a)}: the type of back["w"]
    "I": ...,  # {"w": jnp.array([1, 2])}, restored as {"w": a}: the dtype of back["w"]
    "J": ...,  # a state of optax.sgd, restored as one of optax.adam: the type of back
}


# %% exercise="predict_restored" variant="restored_by_orbax"
import tempfile
from collections import namedtuple
from dataclasses import dataclass

import orbax.checkpoint as ocp

Layer = namedtuple("Layer", ["w", "b"])


@jax.tree_util.register_dataclass
@dataclass
class Net:
    one: object
    two: object


def restored(tree, *template):
    with tempfile.TemporaryDirectory() as folder, ocp.StandardCheckpointer() as saver:
        saver.save(f"{folder}/tree", tree)
        saver.wait_until_finished()
        return saver.restore(f"{folder}/tree", *template)


def kind(value):
    return type(value).__name__


def kind_for_another_optimiser(params):
    one, other = optax.sgd(0.1, momentum=0.9).init(params), optax.adam(0.1).init(params)
    try:
        return kind(restored(one, other))
    except ValueError:
        return "error"


a = jnp.ones(2)
predictions = {
    "A": kind(restored({"w": (a, a)})["w"]),
    "B": kind(next(iter(restored({0: a, 1: a})))),
    "C": kind(restored({"w": Layer(a, a)})["w"]),
    "D": kind(restored({"w": Net(a, a)})["w"]),
    "E": len(restored({"w": a, "b": None})),
    "F": kind(restored({"step": 3})["step"]),
    "G": kind(restored(optax.adam(0.1).init({"w": a}))),
    "H": kind(restored({"w": (a, a)}, {"w": (a, a)})["w"]),
    "I": str(restored({"w": jnp.array([1, 2])}, {"w": a})["w"].dtype),
    "J": kind_for_another_optimiser({"w": a}),
}


# %% exercise="predict_restored" variant="in_capitals"
words = "List Str Dict Dict 2 Int List Tuple Float32 Error".split()
predictions = dict(zip("ABCDEFGHIJ", words)) | {"E": np.int32(2)}


# %% exercise="predict_restored" misconception="the_file_knows_the_classes" met="google/orbax#1904, google/orbax#683" changes="solution"
"""This would be right if the file held your classes. It holds arrays under texts: what has names comes back as a dict, what has places as a list. Only a template says which class it was."""
-    "A": "list",  # {"w": (a, a)}: the type of back["w"]
+    "A": "tuple",  # {"w": (a, a)}: the type of back["w"]
...
-    "C": "dict",  # {"w": Layer(a, a)}: the type of back["w"]
-    "D": "dict",  # {"w": Net(a, a)}: the type of back["w"]
+    "C": "Layer",  # {"w": Layer(a, a)}: the type of back["w"]
+    "D": "Net",  # {"w": Net(a, a)}: the type of back["w"]
...
-    "G": "list",  # optax.adam(0.1).init({"w": a}): the type of back
+    "G": "tuple",  # optax.adam(0.1).init({"w": a}): the type of back


# %% exercise="predict_restored" misconception="int_keys_stay" met="google/orbax#2561, google/orbax#1305, google/flax#4308" changes="solution"
"""`"int"` would be right if a file could write a key as a number. It writes each key as a text, and without a template nothing says that it was a number: `back[0]` raises a `KeyError`."""
-    "B": "str",  # {0: a, 1: a}: the type of the keys of back
+    "B": "int",  # {0: a, 1: a}: the type of the keys of back


# %% exercise="predict_restored" misconception="tuples_stay" met="google-deepmind/ferminet#105" changes="solution"
"""A tuple and a list both have places, and the file keeps no more than that. Without a template, places come back as a list."""
-    "A": "list",  # {"w": (a, a)}: the type of back["w"]
+    "A": "tuple",  # {"w": (a, a)}: the type of back["w"]
...
-    "G": "list",  # optax.adam(0.1).init({"w": a}): the type of back
+    "G": "tuple",  # optax.adam(0.1).init({"w": a}): the type of back


# %% exercise="predict_restored" misconception="namedtuples_are_tuples" changes="solution"
"""For Python, a namedtuple is a tuple. But its path has names, and so has the file: names come back as the keys of a dict."""
-    "C": "dict",  # {"w": Layer(a, a)}: the type of back["w"]
+    "C": "tuple",  # {"w": Layer(a, a)}: the type of back["w"]


# %% exercise="predict_restored" misconception="namedtuples_become_lists" changes="solution"
"""A namedtuple has places, as a tuple has. But JAX gives its children names in the path, and the file keeps these, as it keeps those of a class."""
-    "C": "dict",  # {"w": Layer(a, a)}: the type of back["w"]
-    "D": "dict",  # {"w": Net(a, a)}: the type of back["w"]
+    "C": "list",  # {"w": Layer(a, a)}: the type of back["w"]
+    "D": "list",  # {"w": Net(a, a)}: the type of back["w"]


# %% exercise="predict_restored" misconception="namedtuples_stay" changes="solution"
"""This would be right if the file knew your class. It keeps only the names of the fields."""
-    "C": "dict",  # {"w": Layer(a, a)}: the type of back["w"]
-    "D": "dict",  # {"w": Net(a, a)}: the type of back["w"]
+    "C": "Layer",  # {"w": Layer(a, a)}: the type of back["w"]
+    "D": "Net",  # {"w": Net(a, a)}: the type of back["w"]


# %% exercise="predict_restored" misconception="a_kind_of_class" changes="solution"
"""There is no class in the file, and no kind of class: only names and arrays. Such a part comes back as the simplest node that has names."""
-    "C": "dict",  # {"w": Layer(a, a)}: the type of back["w"]
-    "D": "dict",  # {"w": Net(a, a)}: the type of back["w"]
+    "C": "namedtuple",  # {"w": Layer(a, a)}: the type of back["w"]
+    "D": "dataclass",  # {"w": Net(a, a)}: the type of back["w"]


# %% exercise="predict_restored" misconception="none_is_not_saved" changes="solution"
"""1 would be right if a file held leaves only. `None` has no leaf, but Orbax writes down which parts of the tree were empty, and puts them back."""
-    "E": 2,  # {"w": a, "b": None}: how many keys back has
+    "E": 1,  # {"w": a, "b": None}: how many keys back has


# %% exercise="predict_restored" misconception="numbers_become_arrays" changes="solution"
"""NumPy's own files hold arrays only. Orbax writes down also that something was a Python number, and gives a Python number back."""
-    "F": "int",  # {"step": 3}: the type of back["step"]
+    "F": "array",  # {"step": 3}: the type of back["step"]


# %% exercise="predict_restored" misconception="numbers_become_jax_arrays" changes="solution"
"""`"ArrayImpl"` is the class of JAX's arrays. Orbax writes down also that something was a Python number, and gives a Python number back."""
-    "F": "int",  # {"step": 3}: the type of back["step"]
+    "F": "ArrayImpl",  # {"step": 3}: the type of back["step"]


# %% exercise="predict_restored" misconception="numbers_become_numpys" changes="solution"
"""`"ndarray"` would be right for NumPy's own files. Orbax writes down also that something was a Python number, and gives a Python number back."""
-    "F": "int",  # {"step": 3}: the type of back["step"]
+    "F": "ndarray",  # {"step": 3}: the type of back["step"]


# %% exercise="predict_restored" misconception="a_state_of_names" changes="solution"
"""An Optax state is a tuple that holds a namedtuple for each part. So its outermost node has places, and no names."""
-    "G": "list",  # optax.adam(0.1).init({"w": a}): the type of back
+    "G": "dict",  # optax.adam(0.1).init({"w": a}): the type of back


# %% exercise="predict_restored" misconception="an_adam_state" met="google/flax#1550" changes="solution"
"""This would be right if the file knew Optax's classes. The state of `adam` is a tuple of two namedtuples: places outside, names inside."""
-    "G": "list",  # optax.adam(0.1).init({"w": a}): the type of back
+    "G": "ScaleByAdamState",  # optax.adam(0.1).init({"w": a}): the type of back


# %% exercise="predict_restored" misconception="a_template_changes_nothing" changes="solution"
"""`"list"` would be right without the template. A template says which nodes to make: its tuple comes back as a tuple."""
-    "H": "tuple",  # {"w": (a, a)}, restored as {"w": (a, a)}: the type of back["w"]
+    "H": "list",  # {"w": (a, a)}, restored as {"w": (a, a)}: the type of back["w"]


# %% exercise="predict_restored" misconception="everything_is_a_dict" changes="solution"
"""Names come back as a dict. What has places, 0 and 1, comes back as a list, unless a template says something else."""
-    "A": "list",  # {"w": (a, a)}: the type of back["w"]
+    "A": "dict",  # {"w": (a, a)}: the type of back["w"]
...
-    "G": "list",  # optax.adam(0.1).init({"w": a}): the type of back
-    "H": "tuple",  # {"w": (a, a)}, restored as {"w": (a, a)}: the type of back["w"]
+    "G": "dict",  # optax.adam(0.1).init({"w": a}): the type of back
+    "H": "dict",  # {"w": (a, a)}, restored as {"w": (a, a)}: the type of back["w"]


# %% exercise="predict_restored" misconception="another_dtype_is_refused" met="SlopDotCash/asi#2714" changes="solution"
"""`"error"` would be right for another shape. Of another dtype Orbax says nothing: it converts the numbers to the dtype of the template, and large whole numbers lose their last digits."""
-    "I": "float32",  # {"w": jnp.array([1, 2])}, restored as {"w": a}: the dtype of back["w"]
+    "I": "error",  # {"w": jnp.array([1, 2])}, restored as {"w": a}: the dtype of back["w"]


# %% exercise="predict_restored" misconception="the_dtype_of_the_file" met="SlopDotCash/asi#2714" changes="solution"
"""`"int32"` is the dtype in the file. The template decides about dtypes too, and nothing says that numbers were converted."""
-    "I": "float32",  # {"w": jnp.array([1, 2])}, restored as {"w": a}: the dtype of back["w"]
+    "I": "int32",  # {"w": jnp.array([1, 2])}, restored as {"w": a}: the dtype of back["w"]


# %% exercise="predict_restored" misconception="any_optimiser_fits" met="google-research/runtime-error-prediction#92" changes="solution"
"""Structure and names come from the template, so each of its paths has to be in the file. Momentum saves a `trace`; Adam asks for a `mu`, a `nu` and a `count`."""
-    "J": "error",  # a state of optax.sgd, restored as one of optax.adam: the type of back
+    "J": "tuple",  # a state of optax.sgd, restored as one of optax.adam: the type of back


# %% exercise="predict_restored" misconception="the_state_in_the_file" met="google-research/runtime-error-prediction#92" changes="solution"
"""`"list"` is what comes back without a template. With one, Orbax looks for each path of the template in the file, and these two states have different names."""
-    "J": "error",  # a state of optax.sgd, restored as one of optax.adam: the type of back
+    "J": "list",  # a state of optax.sgd, restored as one of optax.adam: the type of back


# %% exercise="predict_restored" misconception="it_raises" changes="solution"
"""Nothing raises an error here: without a template, Orbax makes nodes of its own choice, and with one that fits, those of the template. What it changed goes unnoticed, until a map over two trees fails."""
-    "A": "list",  # {"w": (a, a)}: the type of back["w"]
-    "B": "str",  # {0: a, 1: a}: the type of the keys of back
-    "C": "dict",  # {"w": Layer(a, a)}: the type of back["w"]
-    "D": "dict",  # {"w": Net(a, a)}: the type of back["w"]
-    "E": 2,  # {"w": a, "b": None}: how many keys back has
-    "F": "int",  # {"step": 3}: the type of back["step"]
-    "G": "list",  # optax.adam(0.1).init({"w": a}): the type of back
-    "H": "tuple",  # {"w": (a, a)}, restored as {"w": (a, a)}: the type of back["w"]
+    "A": "error",  # {"w": (a, a)}: the type of back["w"]
+    "B": "error",  # {0: a, 1: a}: the type of the keys of back
+    "C": "error",  # {"w": Layer(a, a)}: the type of back["w"]
+    "D": "error",  # {"w": Net(a, a)}: the type of back["w"]
+    "E": "error",  # {"w": a, "b": None}: how many keys back has
+    "F": "error",  # {"step": 3}: the type of back["step"]
+    "G": "error",  # optax.adam(0.1).init({"w": a}): the type of back
+    "H": "error",  # {"w": (a, a)}, restored as {"w": (a, a)}: the type of back["w"]


# %% exercise="next_batch" starter=True
def next_batch(key, count, size):
    """Return `size` row numbers below `count`, and the key for the next call."""
    return jax.random.permutation(key, count)[:size], key


# %% exercise="next_batch" variant="chosen_without_replacement"
def next_batch(key, count, size):
    later, now = jax.random.split(key)
    rows = jax.random.choice(now, count, (size,), replace=False)
    return rows, later


# %% exercise="next_batch" variant="a_permutation_of_the_rows"
def next_batch(key, count, size):
    keys = jax.random.split(key, 2)
    rows = jnp.arange(count)
    return np.asarray(jax.random.permutation(keys[1], rows))[0:size], keys[0]


# %% exercise="next_batch" misconception="the_other_key_draws"
"""Your batches are random, but the two keys of the split are swapped. The second one draws, and the first one is for the next call: so everybody gets the same batches."""


def next_batch(key, count, size):
    now, later = jax.random.split(key)
    return jax.random.permutation(now, count)[:size], later


# %% exercise="next_batch" misconception="the_second_key_unused" changes="solution"
"""No batch of yours is right: you draw with the first key of the split, and return it for the next call, which splits it. So one key is used twice, and the second one never."""
-    return jax.random.permutation(now, count)[:size], key
+    return jax.random.permutation(key, count)[:size], key


# %% exercise="next_batch" misconception="other_rows_of_the_permutation" changes="solution"
"""Your batches are random, but not the first `size` numbers of the permutation: you take the last ones."""
-    return jax.random.permutation(now, count)[:size], key
+    return jax.random.permutation(now, count)[count - size :], key


# %% exercise="next_batch" misconception="as_it_was_found"
"""Every batch has the same rows: the network sees one batch, 600 times. You return a key that draws the same numbers again. A key is used once: draw with one new key, and return another one."""


def next_batch(key, count, size):
    rows = jax.random.permutation(key, count)[:size]
    return rows, key


# %% exercise="next_batch" misconception="a_key_of_its_own" changes="solution"
"""Your rows do not depend on the caller's key: your function makes a key of its own. Then each call draws the same rows, whatever key comes in."""
-    key, now = jax.random.split(key)
+    key, now = jax.random.split(jax.random.key(0))


# %% exercise="next_batch" misconception="always_the_same_next_key"
"""From the second one on, all your batches are the same. The key that you return does not depend on the key that you got."""


def next_batch(key, count, size):
    return jax.random.permutation(key, count)[:size], jax.random.key(1)


# %% exercise="next_batch" misconception="splits_after_the_draw" met="AakashKumarNain/TF_JAX_tutorials#4" section="a-key-for-each-layer" changes="as_it_was_found"
"""You use a key twice: the caller's key, or a part of it, draws the batch, and the key that you return is made from it too. Numbers are independent only if each key is used once. Draw with one key of the split, and return the other one."""
     rows = jax.random.permutation(key, count)[:size]
+    key, _ = jax.random.split(key)


# %% exercise="next_batch" misconception="with_replacement" changes="solution"
"""Your row numbers are drawn one by one, as `randint` does it, so some rows come twice in one batch. A batch has `size` different rows: take them from a permutation."""
-    return jax.random.permutation(now, count)[:size], key
+    return jax.random.randint(now, (size,), 0, count), key


# %% exercise="next_batch" misconception="neighbours" changes="solution"
"""The rows of your batch are neighbours: one random start, and the rows after it. Then the same pictures always come together. Each set of rows should be possible."""
-    return jax.random.permutation(now, count)[:size], key
+    return jax.random.randint(now, (), 0, count - size + 1) + jnp.arange(size), key


# %% exercise="next_batch" misconception="rows_only"
"""You return the row numbers alone. Without a new key, the next call cannot draw another batch: return two things, the row numbers and the key."""


def next_batch(key, count, size):
    _, now = jax.random.split(key)
    return jax.random.permutation(now, count)[:size]


# %% exercise="next_batch" misconception="key_comes_first" changes="solution"
"""Your two results are swapped: the row numbers come first, then the key."""
-    return jax.random.permutation(now, count)[:size], key
+    return key, jax.random.permutation(now, count)[:size]


# %% exercise="next_batch" misconception="two_keys_for_the_next"
"""Your second result is both keys that `split` made. One of them draws this batch, and the other one is for the next call."""


def next_batch(key, count, size):
    keys = jax.random.split(key)
    return jax.random.permutation(keys[0], count)[:size], keys


# %% exercise="next_batch" misconception="the_last_row_never" changes="solution"
"""The last row is never in your batches. Rows count from 0, so `count` rows have the numbers 0 to `count - 1`, and `jax.random.permutation(key, count)` returns exactly these."""
-    return jax.random.permutation(now, count)[:size], key
+    return jax.random.permutation(now, count - 1)[:size], key


# %% exercise="next_batch" misconception="the_first_rows"
"""Your batch always holds the first rows, from 0 to `size - 1`, and nothing is random. Take the rows from a permutation of all row numbers."""


def next_batch(key, count, size):
    key, _ = jax.random.split(key)
    return jnp.arange(size), key


# %% exercise="next_batch" misconception="sorted_rows" changes="solution"
"""Your batch has the right rows, but in sorted order. Return the first `size` numbers of the permutation in the order in which they come."""
-    return jax.random.permutation(now, count)[:size], key
+    return jnp.sort(jax.random.permutation(now, count)[:size]), key


# %% exercise="next_batch" misconception="shuffles_the_first_rows" changes="solution"
"""Your batch holds the rows from 0 to `size - 1`, in a random order: the other rows are never drawn. Make a permutation of all `count` rows, and then take the first `size` of it."""
-    return jax.random.permutation(now, count)[:size], key
+    return jax.random.permutation(now, size), key


# %% exercise="next_batch" misconception="the_key_that_drew" met="blackjax-devs/blackjax#53"
"""Your first batch is right, and the later ones are not: you return the key that has drawn the batch, and the next call splits it. So it is used twice. One key of the split draws; return the other one."""


def next_batch(key, count, size):
    _, now = jax.random.split(key)
    return jax.random.permutation(now, count)[:size], now


# %% exercise="updated" starter=True
def updated(state, grads, rate, beta=0.9):
    """Return the state after one more step of momentum."""
    velocity = jax.tree.map(lambda v, g: beta * v + g, state["velocity"], grads)
    params = jax.tree.map(lambda p, v: p - rate * v, state["params"], velocity)
    return {**state, "params": params, "step": state["step"] + 1}


# %% exercise="updated" variant="copies_the_dict"
def updated(state, grads, rate, beta=0.9):
    new = dict(state)
    new["velocity"] = jax.tree.map(lambda v, g: g + v * beta, state["velocity"], grads)
    updates = jax.tree.map(lambda v: -rate * v, new["velocity"])
    new["params"] = jax.tree.map(jnp.add, state["params"], updates)
    new["step"] += 1
    return new


# %% exercise="updated" variant="by_flattening"
def updated(state, grads, rate, beta=0.9):
    ps, structure = jax.tree.flatten(state["params"])
    pairs = zip(jax.tree.leaves(state["velocity"]), jax.tree.leaves(grads))
    vs = [beta * v + g for v, g in pairs]
    ps = [p - rate * v for p, v in zip(ps, vs)]
    new = {"params": structure.unflatten(ps), "velocity": structure.unflatten(vs)}
    return state | new | {"step": 1 + state["step"]}


# %% exercise="updated" misconception="as_it_was_found" changes="solution"
"""The state that you return still has the old velocity, so each step begins as if there had been no gradient before. A jitted step keeps nothing from call to call: what the next one needs has to be in the new state."""
-    return {**state, "params": params, "velocity": velocity, "step": state["step"] + 1}
+    return {**state, "params": params, "step": state["step"] + 1}


# %% exercise="updated" misconception="does_not_count" changes="solution"
"""Your `"step"` stays as it was. The warm-up reads this leaf, so the rate would stay small forever."""
-    return {**state, "params": params, "velocity": velocity, "step": state["step"] + 1}
+    return {**state, "params": params, "velocity": velocity}


# %% exercise="updated" misconception="names_the_entries" changes="solution"
"""Where the state has more than three entries, your new state has lost the others, and so another structure: it is a dict with three names. `{**state, ...}` keeps all entries that you do not write after it."""
-    return {**state, "params": params, "velocity": velocity, "step": state["step"] + 1}
+    return {"params": params, "velocity": velocity, "step": state["step"] + 1}


# %% exercise="updated" misconception="changed_in_place"
"""The state that you were given has changed: you write into the caller's dict. Under `jax.jit` this goes unnoticed, because JAX passes a copy; without it, the old state is lost. Return a new dict."""


def updated(state, grads, rate, beta=0.9):
    velocity = jax.tree.map(lambda v, g: beta * v + g, state["velocity"], grads)
    state["params"] = jax.tree.map(lambda p, v: p - rate * v, state["params"], velocity)
    state["velocity"] = velocity
    state["step"] = state["step"] + 1
    return state


# %% exercise="updated" misconception="moves_with_the_old_velocity" changes="solution"
"""Your parameters are one step late: they move with the old velocity. The new velocity comes first, and then it moves them."""
-    params = jax.tree.map(lambda p, v: p - rate * v, state["params"], velocity)
+    params = jax.tree.map(lambda p, v: p - rate * v, state["params"], state["velocity"])


# %% exercise="updated" misconception="velocity_without_use" changes="solution"
"""Your velocity is right, but your parameters move along the gradient alone. Subtract `rate` times the new velocity."""
-    params = jax.tree.map(lambda p, v: p - rate * v, state["params"], velocity)
+    params = jax.tree.map(lambda p, g: p - rate * g, state["params"], grads)


# %% exercise="updated" misconception="rate_in_the_velocity"
"""Your velocity has the rate in it. The warm-up changes the rate, and the older gradients in your velocity would still have their old rate."""


def updated(state, grads, rate, beta=0.9):
    velocity = jax.tree.map(lambda v, g: beta * v + rate * g, state["velocity"], grads)
    params = jax.tree.map(lambda p, v: p - v, state["params"], velocity)
    return {**state, "params": params, "velocity": velocity, "step": state["step"] + 1}


# %% exercise="updated" misconception="a_beta_of_its_own" changes="solution"
"""Your velocity is right for `beta=0.9` only. `beta` is an argument: the caller may choose another number."""
-    velocity = jax.tree.map(lambda v, g: beta * v + g, state["velocity"], grads)
+    velocity = jax.tree.map(lambda v, g: 0.9 * v + g, state["velocity"], grads)


# %% exercise="updated" misconception="weighted_mean" changes="solution"
"""Your velocity is a weighted mean: the gradient counts `1 - beta` times. That is a common form too. This task adds the whole gradient."""
-    velocity = jax.tree.map(lambda v, g: beta * v + g, state["velocity"], grads)
+    velocity = jax.tree.map(lambda v, g: beta * v + (1 - beta) * g, state["velocity"], grads)


# %% exercise="updated" misconception="items_of_one_dict" section="a-gradient-is-a-tree"
"""Your function is right where `"params"` is one dict of arrays, and fails for other trees: it loops over the items. Parameters may be nested in any way: use `jax.tree.map`."""


def updated(state, grads, rate, beta=0.9):
    velocity = {name: beta * v + grads[name] for name, v in state["velocity"].items()}
    params = {name: p - rate * velocity[name] for name, p in state["params"].items()}
    return {**state, "params": params, "velocity": velocity, "step": state["step"] + 1}


# %% exercise="updated" misconception="one_velocity_further"
"""Your parameters are right after one step, but the velocity in your new state is one step further: the same gradient is in it twice. Compute the new velocity once: it moves the parameters, and it goes into the state."""


def updated(state, grads, rate, beta=0.9):
    def faster(velocity):
        return jax.tree.map(lambda v, g: beta * v + g, velocity, grads)

    velocity = faster(state["velocity"])
    params = jax.tree.map(lambda p, v: p - rate * v, state["params"], velocity)
    return {**state, "params": params, "velocity": faster(velocity), "step": state["step"] + 1}


# %% exercise="updated" misconception="the_old_entries_win" changes="solution"
"""Your new state is equal to the old one: what you have computed is not in it. Where two entries of a dict have one key, the later one counts, so `**state` comes first."""
-    return {**state, "params": params, "velocity": velocity, "step": state["step"] + 1}
+    return {"params": params, "velocity": velocity, "step": state["step"] + 1, **state}


# %% exercise="updated" misconception="the_move_is_kept"
"""The velocity in your new state has been multiplied by `rate`: it is how far the parameters move. The velocity is `beta * velocity + gradient`. Multiply by `rate` only where the parameters move."""


def updated(state, grads, rate, beta=0.9):
    velocity = jax.tree.map(lambda v, g: rate * (beta * v + g), state["velocity"], grads)
    params = jax.tree.map(lambda p, v: p - v, state["params"], velocity)
    return {**state, "params": params, "velocity": velocity, "step": state["step"] + 1}


# %% exercise="updated" misconception="keeps_the_gradient" changes="solution"
"""Your parameters are right after one step, but the velocity in your new state is the gradient alone. Then the next step knows no earlier gradient. Keep the new velocity, the one that moves the parameters."""
-    return {**state, "params": params, "velocity": velocity, "step": state["step"] + 1}
+    return {**state, "params": params, "velocity": grads, "step": state["step"] + 1}


# %% exercise="updated" misconception="beta_for_the_gradient" changes="solution"
"""Your velocity keeps the old velocity whole and multiplies the gradient by `beta`. It is the other way round: `beta` makes the old velocity smaller."""
-    velocity = jax.tree.map(lambda v, g: beta * v + g, state["velocity"], grads)
+    velocity = jax.tree.map(lambda v, g: beta * g + v, state["velocity"], grads)


# %% exercise="updated" misconception="trees_are_numbers"
"""Every call raises a `TypeError`: you compute with whole trees, as in `beta * state["velocity"]`. Python has no arithmetic for dicts: `jax.tree.map` computes leaf by leaf."""


def updated(state, grads, rate, beta=0.9):
    velocity = beta * state["velocity"] + grads
    params = state["params"] - rate * velocity
    return {**state, "params": params, "velocity": velocity, "step": state["step"] + 1}


# %% exercise="updated" misconception="velocity_into_the_old_state"
"""The state that you were given has the new velocity: you write `state["velocity"] = ...` into the caller's dict. The old state has to stay as it was: put the new velocity into the new dict only."""


def updated(state, grads, rate, beta=0.9):
    state["velocity"] = jax.tree.map(lambda v, g: beta * v + g, state["velocity"], grads)
    params = jax.tree.map(lambda p, v: p - rate * v, state["params"], state["velocity"])
    return {**state, "params": params, "step": state["step"] + 1}


# %% exercise="updated" misconception="counts_in_the_old_state" changes="does_not_count"
"""The `"step"` of the state that you were given has grown: you write `state["step"] += 1` into the caller's dict. The old state has to stay as it was: put the new count into the new dict only."""
     """Return the state after one more step of momentum."""
+    state["step"] += 1


# %% exercise="make_warm_step" starter=True
def make_warm_step(loss, updated, rate_at):
    """Return a jitted function: (state, x, labels) -> (new state, loss)."""
    done = 0

    @jax.jit
    def step(state, x, labels):
        nonlocal done
        value, grads = jax.value_and_grad(loss)(state["params"], x, labels)
        new = updated(state, grads, rate_at(done))
        done += 1
        return new, value

    return step


# %% exercise="make_warm_step" variant="jit_as_a_function"
def make_warm_step(loss, updated, rate_at):
    def step(state, x, labels):
        grads = jax.grad(loss)(state["params"], x, labels)
        new = updated(state, grads, rate_at(state["step"]))
        return new, loss(state["params"], x, labels)

    return jax.jit(step)


# %% exercise="make_warm_step" variant="rate_made_outside"
def make_warm_step(loss, updated, rate_at):
    @jax.jit
    def with_rate(state, x, labels, rate):
        value, grads = jax.value_and_grad(loss)(state["params"], x, labels)
        return updated(state, grads, rate), value

    def step(state, x, labels):
        return with_rate(state, x, labels, rate_at(state["step"]))

    return step


# %% exercise="make_warm_step" misconception="as_it_was_found" changes="solution"
"""All your steps have the same rate, the one of the very first step. Python counts only while JAX traces, once; then the number is a constant. What changes has to come in as an argument."""
     """Return a jitted function: (state, x, labels) -> (new state, loss)."""
+    done = 0
...
     def step(state, x, labels):
+        nonlocal done
...
-        return updated(state, grads, rate_at(state["step"])), value
+        new = updated(state, grads, rate_at(done))
+        done += 1
+        return new, value


# %% exercise="make_warm_step" misconception="counts_outside_of_jit" changes="rate_made_outside"
"""Your rates are right for a training that begins at step 0, and wrong for one that goes on later: your function counts its own calls. How many steps came before is a leaf of the state, which is saved and loaded with the parameters."""
 def make_warm_step(loss, updated, rate_at):
+    done = 0
+
...
-        return with_rate(state, x, labels, rate_at(state["step"]))
+        nonlocal done
+        done += 1
+        return with_rate(state, x, labels, rate_at(done - 1))


# %% exercise="make_warm_step" misconception="the_rate_of_the_next_step" changes="solution"
"""Your rates are one step ahead. `rate_at` takes the number of steps before this one: that is `"step"` in the old state."""
     """Return a jitted function: (state, x, labels) -> (new state, loss)."""
-
...
-        return updated(state, grads, rate_at(state["step"])), value
+        return updated(state, grads, rate_at(state["step"] + 1)), value


# %% exercise="make_warm_step" misconception="no_jit" changes="solution"
"""Your numbers are right, but Python runs the loss function in every call: there is no `jax.jit`, or it stands inside the step. Either way, JAX keeps no program from one call to the next."""
-
-    @jax.jit


# %% exercise="make_warm_step" misconception="static_step"
"""Your numbers are right, but JAX traces again for every step: the number of steps is static. Then each number needs its own program: 600 steps are 600 compilations."""
from functools import partial


def make_warm_step(loss, updated, rate_at):
    @partial(jax.jit, static_argnums=3)
    def at_step(state, x, labels, done):
        value, grads = jax.value_and_grad(loss)(state["params"], x, labels)
        return updated(state, grads, rate_at(done)), value

    def step(state, x, labels):
        return at_step(state, x, labels, int(state["step"]))

    return step


# %% exercise="make_warm_step" misconception="asks_the_tracer_for_an_int" changes="the_rate_of_the_next_step"
"""Your step raises an error about a traced value that should be a number: you make an `int` of `"step"`. Under `jax.jit` it has no number yet: hand it to `rate_at` as it is."""
-        return updated(state, grads, rate_at(state["step"] + 1)), value
+        return updated(state, grads, rate_at(int(state["step"]))), value


# %% exercise="make_warm_step" misconception="loss_after_the_step" changes="the_rate_of_the_next_step"
"""Your states are right, but your loss is the loss at the new parameters. `value_and_grad` computes the loss at the old parameters together with the gradient."""
-        value, grads = jax.value_and_grad(loss)(state["params"], x, labels)
-        return updated(state, grads, rate_at(state["step"] + 1)), value
+        grads = jax.grad(loss)(state["params"], x, labels)
+        new = updated(state, grads, rate_at(state["step"]))
+        return new, loss(new["params"], x, labels)


# %% exercise="make_warm_step" misconception="counts_twice" changes="the_rate_of_the_next_step"
"""Your `"step"` grows by 2 in each step, so the rate warms up too fast. `updated` counts already: do not count once more."""
-        return updated(state, grads, rate_at(state["step"] + 1)), value
+        new = updated(state, grads, rate_at(state["step"]))
+        return {**new, "step": new["step"] + 1}, value


# %% exercise="make_warm_step" misconception="the_old_state" changes="the_rate_of_the_next_step"
"""Your step returns the state that it got. Under `jax.jit` nothing is changed in place: the new state is what `updated` returns."""
-        return updated(state, grads, rate_at(state["step"] + 1)), value
+        updated(state, grads, rate_at(state["step"]))
+        return state, value


# %% exercise="make_warm_step" misconception="update_outside_of_jit" changes="solution"
"""Your numbers are right, but Python runs `updated` in every call: only the gradient is jitted. Put one `jax.jit` around the whole step."""
     """Return a jitted function: (state, x, labels) -> (new state, loss)."""
+    value_and_grad = jax.jit(jax.value_and_grad(loss))
...
-    @jax.jit
...
-        value, grads = jax.value_and_grad(loss)(state["params"], x, labels)
+        value, grads = value_and_grad(state["params"], x, labels)


# %% exercise="make_warm_step" misconception="a_table_of_rates" changes="solution"
"""Your rates are right for the first steps, and much later they stand still: an array of rates is indexed with the step. Beyond its end, JAX returns the last number and raises nothing. Call `rate_at` with the step itself."""
     """Return a jitted function: (state, x, labels) -> (new state, loss)."""
+    rates = jnp.array([rate_at(done) for done in range(200)])
...
-        return updated(state, grads, rate_at(state["step"])), value
+        return updated(state, grads, rates[state["step"]]), value


# %% exercise="make_warm_step" misconception="counts_without_jit" changes="starter"
"""Your rates follow a count of calls, and Python runs the loss function in every call, so nothing is jitted. Keep `jax.jit`, and read the number of steps from the state."""
-    @jax.jit
