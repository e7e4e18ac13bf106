"""What the area's steps take from the configuration."""

from collections.abc import Mapping
from typing import Any

from biaslab.run.command import options


def chosen_options(config: Mapping[str, Any], *keys: str) -> list[str]:
    """Return some keys of the area's section as options of a command; no other key reruns its step.

    Parameters
    ----------
    *keys : str
        Of the section ``ranking``.
    """
    return options({key: config["ranking"][key] for key in keys})
