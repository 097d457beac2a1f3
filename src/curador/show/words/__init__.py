"""What people read, in the languages they read: texts by code.  To be read in this order:

* ``say``  a text in a language, with its facts filled in
* ``en``   English
* ``es``   Spanish

Nothing is ever decided by these texts: code compares codes.
"""
