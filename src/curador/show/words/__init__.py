"""Texts by code, in every language: TOML files, in which the languages of a text stand one below the other.

Programs compare codes; nothing is decided by a text.  The files: ``release`` and ``report`` for what plans and answers
say, ``cli`` for commands, ``console/`` with a file for each page, ``refusals/`` for what happened and what to do,
``facts`` for the words of facts in them.

Reading order:

* say — a text in a language, with its facts filled in
"""
