"""Texts by code, in several languages.  Nothing is ever decided by a text: programs compare codes.

Reading order:

* console — the texts of the console, a file for each page
* say — a text in a language, with its facts filled in
* en — English
* es — Spanish
"""
