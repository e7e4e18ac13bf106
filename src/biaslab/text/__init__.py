"""Texts with labels, their tokens and identity terms, and the networks that read them; knows no paper."""
