"""Values chosen by their rank.

Reading order:

* around — where a quantile lies: noised counts in cells around a chosen value
* ranks — quantiles, least and largest values, bounds
"""
