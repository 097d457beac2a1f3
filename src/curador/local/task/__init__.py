"""The parts of every local task, in reading order.

* identity — a task's name, period and segment, and the id from them
* task — a task: one question for many devices, and the contract of every randomizer
* thresholds — integer thresholds that keep an epsilon, with proof
* draw — random decisions by integer thresholds, of exact probability
* keys — listed keys and their indices
* values — values as they reach a device
* layout — reports as bytes
* tally — the counts of reports, which add up
* limits — confidence limits that hold for any data
* estimate — the contract of every estimate: summaries, tables, data frames
* planning — the number of people needed
* build — a task from options by name
"""
