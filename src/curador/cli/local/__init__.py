"""Commands about local privacy, in reading order.

* commands — simulate, collect, estimate and client
* new_task — new-task
* tables — estimates on a terminal
"""
