"""Commands that attack: what is claimed, and what an attacker would see of it.

Reading order:

* commands — the group: one line for each command
* reporting — what was found, as text, JSON or a page
* mechanism — mechanism
* reports — local
* query — query
* model — model
* demonstrations — reconstruct, link, game
* service — service
* door — the command line as a door that attacks go through
* web_door — HTTP as a door that attacks go through
"""
