"""A curator that somebody else serves, with the interface of one at hand.

Reading order:

* connection — requests that are sent again where that cannot buy twice, and refusals as our own errors
* balance — a budget as its server states it
* sent — questions, prices and terms as plain values
* plans — plans and batches as their server states them
* models — models planned here, learned and scored there
* curator — the remote curator: sends questions, shows what comes back
"""
