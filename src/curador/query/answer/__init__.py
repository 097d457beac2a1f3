"""From exact integers to a noised measurement, and from that to an answer.

Reading order:

* noisy — the noised measurement: what a ledger keeps
* noise — exact integers to a noised measurement
* fitted — the rows of an answer, those of grouping sets made to agree, and the law of each
* together — tables of a batch about the same rows, made to agree
* evaluate — the value of an expression over an answer, in all of its groups
* derived — where what is computed from answers lies
* shares — what limits on one unit keep, from one histogram
* postprocess — a noised measurement to the columns of an answer
* reading — which of its numbers mislead who reads them alone
"""
