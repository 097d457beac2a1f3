"""Models learned under the same budget as questions, with the interface of scikit-learn.

Reading order:

* requirement — refuses to load without scikit-learn
* rows — rows as integers, and exact sums over them
* preprocess — scaling, keys and parts by declarations, with nothing learned
* pricing — from a guarantee to how much noise it asks for
* descent — noisy descent
* madeup — made-up rows, to say beforehand what noise will do
* sums — exact sums with noise, for models made of them
* spent — what a model cost, in words
* model — the two doors of every model
* score — how often a classifier is right on private rows
* saved — models as JSON files
* trials — how right a classifier is by epsilon, rows or batch size, and figures of it
* search — the best of several settings by private selection
* recipe — a model described in a TOML file
* models — the models, one file for each family
"""

from lazy_loader import attach_stub

import curador.learn.requirement  # noqa: F401  without scikit-learn nothing here loads, with one message

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
