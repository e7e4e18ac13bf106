"""Labelled texts, public corpora, identity terms, WordPieces and encoders. Knows no paper."""
