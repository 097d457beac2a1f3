"""One file per mechanism: how it releases, its event, its error and its kind.

Reading order:

* base — what every mechanism has, the list of kinds, and checks of what is released
* sensitivity — how far one unit can move a statistic, by rule and by exhaustive search
* laplace — Laplace noise on real numbers and on integers
* gaussian — Gaussian noise on real numbers and on integers
* laws — laws of sums of noises
* intervals — confidence intervals for sums, differences and ratios of noisy numbers
* response — randomized response
* selection — one of several candidates by their scores: exponential, permute-and-flip, report noisy max, top k
* quantiles — quantiles of bounded values by exponential choices
* sparse_vector — which of many questions lie above a threshold
* keys — which groups may be shown when their keys come from the data
* thresholded — noisy counts of groups, shown where they reach a threshold
* tree — running totals over time by a binary tree
"""
