"""The mechanism tester: a floor under what a black box claims, from its outputs on two neighbours.

Reading order:

* claim — from the chances of one event on two neighbours to the least loss that explains them
* certify — exact limits on two chances, and all that was tried paid for
* outputs — what a black box gave, as numbers and symbols
* features — what to look at: values, differences, lowest bits, repeats, scores learned from the outputs
* events — sets of outputs that are likelier on one side, chosen on one half
* power — the smallest error that so many runs would have found
* distinguish — the test of one pair of neighbours
* neighbours — the pairs that a declared domain, or a mechanism, is worst on
* search — the worst of many pairs
* named — the mechanisms of curador by the code of their kind
"""
