"""What leaves a curator.

Reading order:

* notes — what one says besides its numbers, by code
* release — noised values with their intervals, their guarantee and their charge
* explanation — a plan in words, before anything is paid
* publication — the releases of a batch, and what they cost together
* titles — a question as a title
* reporting — either of them as a report, as charts, and in a notebook
* former — the declarations that something was bought under
* recall — one of them shown again, by the charge that bought it
* verify — whether one of them is as it was made
"""
