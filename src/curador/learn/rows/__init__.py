"""Rows as integers: encoded from declarations alone, and summed exactly.

Reading order:

* encoding — how one row becomes a vector of integers
* design — the encoded rows, and exact sums over them
* records — records of a curator's table as encoded rows
* declared — what a model is told about arrays, and arrays read by it
"""
