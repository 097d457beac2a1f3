"""Statistics of two columns.

Reading order:

* equations — intervals: solutions of equations of noisy numbers
* pairs — covariances, correlations, and lines through two columns
"""
