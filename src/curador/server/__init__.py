"""The same curator behind HTTP.  Whoever is behind this door is hostile: patient, adaptive, with many accounts.

Reading order:

* requirement — refuses to load without FastAPI
* small_file — what may be lost, beside the study
* access — who a caller is
* gate — limits, the clock, refusals, logs without data
* jobs — work that takes longer than a request waits
* reopening — the study as its file is now
* service — what routes share: the curator, who may call, work in threads
* bodies — what requests may say
* answers — what requests are answered with, for the description
* shown — charges and balances as plain values
* routes — what may be done, by whom
* description — the OpenAPI description
* reference — the description as people read it: docs/reference/http.md, and `/docs`
* console — pages for people
* app — all of it together
* run — `curador serve`
* furnished — the demonstration as `curador serve demo` shows it
* agents — the same for AI agents, over the Model Context Protocol
* loopback — an application served from a thread, for attacks and tests
"""
