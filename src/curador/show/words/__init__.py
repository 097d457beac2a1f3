"""Texts by code, in several languages.  Nothing is ever decided by a text: programs compare codes.

Reading order:

* console — the texts of the console, a file for each page
* refusals — refusals in Spanish, by their codes
* cli — what commands print of their own
* report_en — the texts of release reports in English
* report_es — the texts of release reports in Spanish
* say — a text in a language, with its facts filled in
* en — English
* es — Spanish
"""
