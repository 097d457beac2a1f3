"""Texts, tables and figures for people, made of plain values.

Reading order:

* words — texts by code, in English and Spanish
* tables — tables as text and HTML
* explain — a plan in words
* release — a release on a terminal and in a notebook
* limits — the shares that limits on one unit keep
* models — models: what fitting would cost, what a fitted one promises
* describe — the tables and budgets that a curator holds
* summary — estimates from local reports as plain values and tables
* curves — privacy curves as figures
* estimates — estimates from local reports as figures
* panels — errors of several methods side by side
* pages — pages that need no network, with their charts
* report — a release as a report: one HTML file, its charts, a notebook's cell
* progress — a bar for long work
* files — files written whole or not at all
"""
