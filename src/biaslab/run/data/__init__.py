"""Registered data: find, fetch, build and verify them."""
