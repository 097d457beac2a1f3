"""What stands between a stranger and the curator.

Reading order:

* settings — what the study says of its server: the tick, and the limits
* clock — answers leave on a clock
* cpu — how long free work may compute
* refusals — what every door refuses, in the same words
* problems — every refusal as one JSON document
* metrics — logs and counts without data
* cookies — what a browser brings back
* rates — how often each caller may come
* heads — the first lines of a request come in time
* guard — limits before a request is read: size, time, rate, how many at once
"""
