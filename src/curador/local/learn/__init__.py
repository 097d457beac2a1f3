"""Linear models trained on locally private gradients, in reading order.

* requirement — refuses to load without scikit-learn
* losses — convex losses and their slopes
* reading — parameters and people's numbers, checked
* randomizers — gradients in, reports out
* schedule — the people of each round and their epsilon
* expected — what noise is expected to cost, and a warning
* rounds — one round, and the descent over all rounds
* participant — what a device remembers of a study
* checking — arrays of scikit-learn's interface, checked
* models — the three models
"""

from lazy_loader import attach_stub

import curador.local.learn.requirement  # noqa: F401  without scikit-learn nothing here loads, with one message

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
