"""Pages that need no network: one look for every report.

Charts are plain functions from plain values to SVG; a page is text, tables and charts in one file, light or dark as the
reader's screen is, on a telephone and on paper.

Reading order:

* svg — escaped text, scales and ticks
* charts — lines, points and ROC curves
* bars — bars with intervals
* gauge — how much of a budget is spent
* exhibits — what a page shows, in codes and numbers
* page — an HTML page, or the same as plain values; ``tokens.css`` and ``style.css`` are its look
"""
