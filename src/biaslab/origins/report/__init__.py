"""The tables and figures of the area, each made by one function that ``items`` of its analysis names.

They have the same parameters, and say in their docstrings only what they show:

setups : sequence of Setup
    The setups of the run, in the order of the rows; of what covers all of them.
setup : Setup
    One setup.
weat : str
    The name of one of its association tests.
stem : pathlib.Path
    Of a figure: its files without suffix. They are written, with what is drawn as ``.tsv``.

A table is returned as `biaslab.core.tables.Table`. InputError is raised when a result file, one of its
columns or rows, an option or the word sets of a test are missing; then no figure is written.
"""
