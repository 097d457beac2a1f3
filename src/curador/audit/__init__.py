"""Looks at Curador as an attacker does: from outside, with two tables that differ in one unit."""
