"""Checks: what a check script is written with; the learner's own check is in `checks`."""

from pytree_course.checking.cases import Case as Case
from pytree_course.checking.cases import Point as Point
from pytree_course.checking.cases import as_int as as_int
from pytree_course.checking.cases import as_jax as as_jax
from pytree_course.checking.cases import check as check
from pytree_course.checking.cases import is_one_program as is_one_program
from pytree_course.checking.cases import matrix as matrix
from pytree_course.checking.cases import random_model as random_model
from pytree_course.checking.cases import random_tree as random_tree
from pytree_course.checking.cases import random_words as random_words
from pytree_course.checking.cases import returning_jax as returning_jax
from pytree_course.checking.cases import vector as vector
from pytree_course.checking.predictions import prediction_cases as prediction_cases
