"""A hook of the site: files of the repository that pages link to come with it, below ``repository/``."""

import os
import re
from pathlib import Path

from mkdocs.structure.files import File, InclusionLevel

_LINK = re.compile(r"\[([^\]]*)\]\((?!\w+:)([^)\s#]+)(#[^)\s]*)?\)")


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
    """Point links to them, and theirs to pages; what is not on the site, as a folder, becomes its text."""
    name = page.file.src_uri

    def moved(link):
        text, target, anchor = link.groups()
        path = _place(name, target)
        if path.startswith("docs/") and not name.startswith("repository/"):
            return link[0]
        there = path.removeprefix("docs/") if path.startswith("docs/") else f"repository/{path}"
        if files.get_file_from_path(there) is None:
            return text
        return f"[{text}]({os.path.relpath(there, Path(name).parent)}{anchor or ''})"

    return _LINK.sub(moved, markdown)


def _linked(path, root, config):
    """Return a file of the repository as a page or file of the site that the navigation leaves out."""
    name, level = f"repository/{path}", InclusionLevel.NOT_IN_NAV
    return File.generated(config, name, abs_src_path=str(root / path), inclusion=level)


def _outside(page: str, target: str) -> str:
    """Return what a link names relative to the repository, or nothing if it is a page."""
    path = _place(page, target)
    return "" if path.startswith("docs/") else path


def _place(page: str, target: str) -> str:
    """Return what a link of a page of the site names relative to the repository."""
    source = page.removeprefix("repository/") if page.startswith("repository/") else f"docs/{page}"
    return os.path.normpath(Path(source).parent / target)
