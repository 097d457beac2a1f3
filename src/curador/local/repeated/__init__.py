"""Repeated and shuffled reports, in reading order.

* longitudinal — the same question again and again: permanent answers on the device
* shuffle — amplification by shuffling
"""
