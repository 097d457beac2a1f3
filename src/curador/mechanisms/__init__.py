"""Mechanisms, one per file: its release, its event, its error and its kind.

Reading order:

* base — the contract of every mechanism, the list of kinds, and checks of released values
* sensitivity — the largest change of a statistic by one unit, by rule and by exhaustive search
* laplace — Laplace noise on real numbers and on integers
* gaussian — Gaussian noise on real numbers and on integers
* laws — laws of sums of noises
* intervals — confidence intervals for sums, differences and ratios of noisy numbers
* response — randomized response
* selection — one of several candidates by their scores: exponential, permute-and-flip, report noisy max, top k
* quantiles — quantiles of bounded values by exponential choices
* sparse_vector — the questions among many whose values lie above a threshold
* keys — the groups that may be shown when their keys come from the data
* thresholded — noisy counts of groups, shown where they reach a threshold
* tree — running totals over time by a binary tree
"""
