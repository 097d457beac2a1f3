"""What leaves a curator.

Reading order:

* release — noised values with their intervals, their guarantee and their charge
* publication — the releases of a batch, and what they cost together
* recall — one of them shown again, by the charge that bought it
* verify — whether one of them is as it was made
"""
