"""Texts by code, in several languages.  Nothing is ever decided by a text: programs compare codes.

Reading order:

* say — a text in a language, with its facts filled in
* en — English
* es — Spanish
"""
