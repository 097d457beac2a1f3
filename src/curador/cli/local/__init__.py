"""Commands about local privacy, in reading order.

* commands — simulate, collect, estimate, compare and client
* new_task — new-task
* tables — estimates on a terminal
"""
