"""The tables and figures of the area, except those of single analyses, which are in the analyses' folders.

These functions have the same parameters. Their docstrings describe only the content:

setups : sequence of Setup
    The setups of the run, in the order of the rows, for items that cover all setups.
setup : Setup
    One setup.
weat : str
    The name of an association test of the setup.
stem : pathlib.Path
    Path of a figure without suffix. The function writes the figure, and its data as ``.tsv``.

Functions of tables return `biaslab.core.tables.Table`. Functions raise InputError if a result file, a column,
a row, an option or the word sets of a test are missing. Then they write no figure.
"""
