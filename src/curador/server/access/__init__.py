"""Who a caller is.

Reading order:

* auth — tokens: made, hashed, shown once; who shows one
* people — tokens given to people, listed and ended
"""
