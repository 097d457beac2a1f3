"""The figures of the course, each a function of a language, drawn with the charts of the reports.

Reading order:

* picture — a chart as a file of its own: words in two languages, several charts in one
* laws — densities, Rényi budgets, composition, the decision game: from formulas and theorems
* measured — salaries, reconstruction, the map: made-up people, and what noise does to them
* local — means and models under local privacy, from what local_figures.py measured
* table — the thesis's comparison of the two definitions, computed
* figures — all of them by name
"""
