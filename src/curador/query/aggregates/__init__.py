"""The aggregates of a column, one file for each family.

Reading order:

* measure — measures: the exact integers behind every answer, and how far one unit moves them
* base — an aggregate, its recipe, and what a function must know: measures, estimate, error
* counts — rows, values, units, distinct keys, histograms
* sums — sums
* moments — means, variances, standard deviations
* ratios — intervals for ratios of noisy numbers
* pairs — covariances, correlations, and lines through two columns
* linear — weighted sums of noisy measures, and ratios of them: arithmetic on answers
* quantiles — quantiles, least and largest values, bounds, and where they lie
* top — the largest groups
* consistent — totals and parts of noised tables that agree
* tree — counts over a tree of groups that agree
"""
