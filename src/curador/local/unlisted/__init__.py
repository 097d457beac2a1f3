"""Keys that no list gives beforehand: hashes, sketches and heavy hitters, in reading order.

* digest — public hashes of keys
* sketch — count-mean sketches
* rappor — RAPPOR: Bloom filters, randomised permanently and again for each report
* regress — frequencies from Bloom filters by least squares
* heavy_hitters — the task of finding frequent values
* chances — the chance of finding a value, for planning
* prefixes — values as bytes, their hashes and continuations
* prefix_search — the search for frequent values, prefix by prefix
* evidence — binomial tails: the support that chance explains
* collisions — the support that hash collisions explain
"""
