"""The tables and figures of the area, except those of single analyses, which are in the analyses' folders.

`setups` are those of the run, in the order of the rows. A figure is written to `stem`, a path without suffix,
and its data as ``.tsv``.
"""
