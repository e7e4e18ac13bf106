"""``python -m biaslab`` is the ``biaslab`` command."""

from biaslab.cli import main

main()
