"""Tables: what is declared about each, the steps by which one is declared, and how many rows fit.

Reading order:

* listing — what is declared about each, in words
* steps — the steps by which one is declared
* mistakes — what is wrong with what was typed
* fit — how many rows fit
"""

from curador.show.words.console.tables import fit, listing, mistakes, steps

TEXTS = {**listing.TEXTS, **steps.TEXTS, **mistakes.TEXTS, **fit.TEXTS}
