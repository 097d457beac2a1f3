"""Linear models trained on locally private gradients, in reading order.

* requirement — the only message if scikit-learn is missing
* losses — convex losses and their slopes
* reading — checks of parameters and of people's numbers
* randomizers — gradients in, reports out
* schedule — the people of each round and their epsilon
* expected — the expected cost of noise, and a warning
* rounds — one round, and the descent over all rounds
* participant — the state of a study on a device
* checking — checks of arrays from scikit-learn's interface
* models — the three models
"""

from lazy_loader import attach_stub

import curador.local.learn.requirement  # noqa: F401  without scikit-learn nothing here loads

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
