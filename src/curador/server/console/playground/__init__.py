"""Lessons of the playground: pure functions from a few bounded numbers to facts, charts and the code that finds them.

Nothing here reads the data of a study, or spends.

Reading order:

* formula — formulas as MathML
* lesson — what a lesson is, and its numbers
* laplace — Laplace noise by its centre and its scale
* accuracy — epsilon against error
* deciding — the decision game, and rounds to play
* response — randomized response
* composing — many questions under each theorem
* divergence — Rényi curves of three mechanisms, and the thesis's table
* cutting — noise that is cut off
* sides — central against local privacy
* rebuilding — secrets from counts
* lessons — all of them, in order
"""
