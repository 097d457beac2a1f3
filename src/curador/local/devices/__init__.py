"""Clients for devices.  Each is one file that imports nothing of Curador: copy it to the device.

* clients — the texts of the clients
* curador_device — the client in Python; curador_device.js is the same in JavaScript
"""
