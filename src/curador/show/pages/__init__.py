"""Pages that need no network: one look for every report.

Charts are plain functions from plain values to SVG; a page is text, tables and charts in one file, light or dark as the
reader's screen is, on a telephone and on paper.  What is drawn has classes and presentation attributes, never a style
of its own: it can stand on a page that forbids inline styles, and is readable on one that has none.

Reading order:

* svg — escaped text, scales and ticks
* charts — lines, points and ROC curves
* bars — bars with intervals, single or several of a name
* dots — dots with intervals, for what is not compared with zero
* columns — upright bars in an order: histograms
* density — where a noised answer falls
* heat — values of two keys as shaded cells
* gauge — how much of a budget is spent
* exhibits — what a page shows, in codes and numbers
* page — an HTML page, or the same as plain values; ``tokens.css``, ``charts.css`` and ``style.css`` are its look
"""
