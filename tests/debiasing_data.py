"""Files of word lists for the tests of debiasing."""

from pathlib import Path

import yaml


def write_lists(folder: Path, lists: dict[str, dict]) -> list[Path]:
    """Write word lists with the sets or words of each; return their files."""
    files = [folder / f"{name}.yaml" for name in lists]
    for file, content in zip(files, lists.values(), strict=True):
        head = {"name": "mine", "title": "A list", "source": "a test"}
        file.write_text(yaml.safe_dump(head | content, sort_keys=False))
    return files
