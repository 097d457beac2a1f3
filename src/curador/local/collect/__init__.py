"""The collector: messages in, estimates out, in reading order.

* wire — the wire format of tasks and messages
* stop — stopping a long collection by a signal
* intake — reading messages, valid or not
* store — the durable store of reports
* collector — a folder that collects on one task
* files — files of tasks and keys
* tallies — tallies as documents, and their sums
* summaries — the estimate as plain values
* comparison — the difference between two periods or segments
* table — columns of a file, for simulations
* rehearsal — simulated reports
* spark — counting as a Spark job
"""
