"""Why taking names out is not enough: the linkage attacks that the course tells of, on made-up people.

Each is followed by the same question asked of a real curator, which answers it about everybody and about nobody.

Reading order:

* people — a made-up population
* unique — zip, birth date and sex: how many people have them for themselves
* join — medical records without names, and a list of voters
* ratings — ratings of films under a number, and a few that are public
* searches — searches under a number
* classes — k-anonymity, broken in three ways
* all — every attack by its name
"""
