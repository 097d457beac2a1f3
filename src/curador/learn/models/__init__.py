"""The models, one file for each family.

Reading order:

* classifier — what all classifiers share
* linear — linear classifiers
* additive — a step function of every number, added up
* regression — linear regression, plain and with a penalty
* components — principal components
* bayes — naive Bayes of numbers and keys
* clusters — k-means
"""
