"""The command line: each command parses, calls and prints; decisions are made elsewhere.

It exits with 0 on success, 1 after a refusal, and 2 if the command was not understood.

Reading order:

* start — the entry point: a plain ask by itself, else all commands
* app — all commands together
* options — the options that several commands share
* opening — a study opened for a command
* screen — printing: text, JSON, refusals
* hints — what to type after a refusal, by its code
* studies — init, check, prepare, reload
* asking — explain, ask, limits, publish
* models — fit, predict
* spending — budget, grant, renew, revoke, history, ledger
* serving — serve, mcp, token
* demo — demo
* reference — the page of all options
* local — local privacy
* audit — attacks, and what they find
"""
