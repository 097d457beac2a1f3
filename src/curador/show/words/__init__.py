"""Texts by code, in the languages people read.  Nothing is ever decided by them: code compares codes.

Reading order:

* say — a text in a language, with its facts filled in
* en — English
* es — Spanish
"""
