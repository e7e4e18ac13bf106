"""Labelled texts, their tokens and identity terms, and the networks that read them; specific to no paper."""
