"""Work that takes longer than a request waits.

Reading order:

* records — what is kept of a job, in a file that the processes of one machine share
* runner — jobs run one after the other, in threads of the process that took them
"""
