"""The models, one file for each family.

Reading order:

* linear — linear classifiers
"""
