"""Lessons of the playground: pure functions from a few bounded numbers to facts, charts and the code that finds them.

Nothing here reads the data of a study, or spends.

Reading order:

* formula — formulas as MathML
* lesson — what a lesson is, and its numbers
* deciding — the decision game, and rounds to play
* accuracy — epsilon against error
* response — randomized response
* sides — central against local privacy
* rebuilding — secrets from counts
* laplace — Laplace noise by its centre and its scale
* composing — many questions under each theorem
* cutting — noise that is cut off
* divergence — Rényi curves of three mechanisms, and a table of what they promise
* lessons — all of them, in order
"""
