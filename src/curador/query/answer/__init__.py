"""From exact integers to a noised measurement, and from that to an answer.

Reading order:

* noisy — the noised measurement: what a ledger keeps
* noise — exact integers to a noised measurement
* postprocess — a noised measurement to the columns of an answer
"""
