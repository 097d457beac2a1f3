"""What models made of sums measure: exact sums of integers over rows, with noise.

Reading order:

* moments — products of every two columns
* residuals — steps of least squares in coordinates made uncorrelated by noisy moments
* noise — Laplace or Gaussian, whichever is less
* classes — counts and sums by class
* centres — centres of clusters, grown from noisy sums
* inside — the same sums worked out inside the engine of a table
"""
