"""Frequencies of listed keys, in reading order.

* oracle — the base of all frequency oracles
* estimates — frequency estimates, with intervals or projected
* krr — k-ary randomized response
* unary — unary encoding: basic RAPPOR and OUE
* walsh — the Walsh–Hadamard transform
* hadamard — Hadamard response
* local_hashing — local hashing with linear hashes
* subset — subset selection
* dbitflip — dBitFlip: yes or no about a few random keys
* planning — the best oracle for a task
"""
