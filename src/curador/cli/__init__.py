"""The command line: each command parses, calls and prints; whatever it decides is decided elsewhere.

It ends with 0 where all is well, 1 where something was refused, and 2 where the command was not understood.

Reading order:

* app — all commands together, and the way in
* options — the options that several commands share
* opening — a study opened for a command
* screen — what commands print with
* hints — what to type about a refusal, by its code
* studies — init, check, prepare, reload
* asking — explain, ask, publish
* budgets — budget, grant, renew, revoke
* histories — history
* ledgers — ledger verify, ledger restore
* demo — demo
* local — local privacy
"""
