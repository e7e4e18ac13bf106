"""The ``biaslab`` command, also as ``python -m biaslab``."""

import sys

from biaslab import starter


def main() -> None:
    """Run the command in the starter of steps if available, else in this process."""
    code = starter.start(sys.argv)
    if code is not None:
        sys.exit(code)
    from biaslab.cli import main as run_command

    run_command()


if __name__ == "__main__":
    main()
