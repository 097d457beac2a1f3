"""The same curator behind HTTP.  Whoever is behind this door is hostile: patient, adaptive, with many accounts.

Reading order:

* requirement — refuses to load without FastAPI
* access — who a caller is
* gate — limits, the clock, refusals, logs without data
* service — what routes share: the curator, who may call, work in threads
* bodies — what requests may say
* routes — what may be done, by whom
* description — the OpenAPI description
* console — pages for people
* app — all of it together
* run — `curador serve`
* furnished — the demonstration as `curador serve demo` shows it
* loopback — an application served from a thread, for attacks and tests
"""
