"""A hook of the site: files of the repository that pages link to come with it, below ``repository/``."""

import os
import re
from pathlib import Path

from mkdocs.structure.files import File, InclusionLevel

_LINK = re.compile(r"\[([^\]]*)\]\(((?:\.\./)+[^)\s#]+)(#[^)\s]*)?\)")


def on_files(files, config):
    """Add the files that pages link to outside of the documentation."""
    root = Path(config.config_file_path).parent
    for page in list(files.documentation_pages()):
        for _, target, _ in _LINK.findall(page.content_string):
            path = _outside(page.src_uri, target)
            if path and (root / path).is_file() and not files.get_file_from_path(f"repository/{path}"):
                files.append(_linked(path, root, config))
    return files


def on_page_markdown(markdown, page, config, files):
    """Point links to them; a link to a folder, which no site can show, becomes its text."""

    def moved(link):
        text, target, anchor = link.groups()
        path = _outside(page.file.src_uri, target)
        if not path:
            return link[0]
        if files.get_file_from_path(f"repository/{path}") is None:
            return text
        return (
            f"[{text}]({os.path.relpath(f'repository/{path}', Path(page.file.src_uri).parent)}{anchor or ''})"
        )

    return _LINK.sub(moved, markdown)


def _linked(path, root, config):
    """Return a file of the repository as a page or file of the site that the navigation leaves out."""
    name, level = f"repository/{path}", InclusionLevel.NOT_IN_NAV
    return File.generated(config, name, abs_src_path=str(root / path), inclusion=level)


def _outside(page: str, target: str) -> str:
    """Return what a link names relative to the repository, or nothing if it is a page."""
    path = os.path.normpath(Path("docs", page).parent / target)
    return "" if path.startswith("docs/") else path
