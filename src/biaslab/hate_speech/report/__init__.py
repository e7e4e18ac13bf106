"""The tables and figures of the area."""
