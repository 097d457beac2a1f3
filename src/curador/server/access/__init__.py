"""Who a caller is.

Reading order:

* auth — tokens: made, hashed, shown once; who shows one
* passwords — logins and passwords, set with a code that is used once
* sessions — what a browser holds after signing in
* people — tokens given to people, listed and ended
"""
