"""A model as pages handle it.

Reading order:

* chosen — from a form to a recipe, and which columns a form offers
* fitted — a fitted model as charts and tables, with names
* typed — a row that somebody typed, and what a model says of it
* noted — a model as the record of its charge names it
* scored — how often a model was right, as it was bought
* recipe_code — a model as code: in Python, on the command line, as a file
"""
