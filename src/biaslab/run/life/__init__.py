"""The life of a run: one at a time in a folder, and a clean end."""
