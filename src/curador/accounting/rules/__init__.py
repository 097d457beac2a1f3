"""Rules for each kind of account, one per event.

Reading order:

* profiles — the smallest delta for each epsilon, and the pure epsilon
* gaussian — the exact profile of Gaussian noise, and its calibration
* divergences — distances between laws: Rényi, Kullback-Leibler, hockey-stick, total variation
* renyi_rules — the Rényi divergence of each event that is not sampled
* central — moments of |p/q - 1|
* sampled — the Rényi divergence of events run on a random sample
* renyi — the Rényi curve of any event
* tradeoffs — the trade-off between the two errors of a test
* groups — the guarantee of a group of k people
* unpaired — epsilon and delta of events without a known pair of laws
* costs — the price of an event in the currency of a budget
"""
