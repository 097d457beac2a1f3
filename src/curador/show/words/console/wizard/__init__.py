"""A new table, declared step by step.

Reading order:

* texts — the texts of its steps
"""

from curador.show.words.console.wizard.texts import TEXTS as TEXTS
