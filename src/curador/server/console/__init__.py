"""Pages for people who write no code: the same curator, limits, clock and roles as the API, seen through a browser.

Reading order:

* static — stylesheet, script and icon, cached by what they hold
* rendering — templates to HTML
* visit — who looks at a page, in which language and theme
* genuine — refuses forms that another site sent
* forms — what a form says, and what is wrong with it, next to the field
* sign — signing in and out, and choices of language and theme
* navigation — which pages there are, and for whom
* budgets — a budget as pages handle it
* questions — a question as pages handle it
* learning — a model as pages handle it
* uploading — a file of rows that a curator brings
* declaring — a table as pages declare it
* wizard — a table, declared step by step
* changing — a declared table, changed or withdrawn
* playground — lessons, which read no data
* described — the HTTP interface as a page
* warming — what first views wait for, made at the start
* app — all of it together
* pages — one file each
"""
