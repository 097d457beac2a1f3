"""Local differential privacy: randomizers on the device, estimators at the collector.

Every public name is declared once, in ``__init__.pyi``, and loaded when first used.  The folders, in reading order:

* task — a task, its thresholds, reports, tallies and estimates: the parts of every randomizer
* frequency — frequencies of listed keys
* numeric — means, vectors, distributions and records of several attributes
* unlisted — frequencies of keys that no list gives beforehand: sketches, RAPPOR, heavy hitters
* repeated — tasks that are answered again and again, and shuffled batches of reports
* devices — the clients that run on devices, each one file that imports nothing of Curador
* collect — the collector: wire format, storage, tallies, summaries, simulation
* learn — linear models from locally private gradients
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
