"""MediaWiki XML dumps, as Wikimedia publishes them."""

import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from xml.parsers import expat

from defusedxml.common import DTDForbidden
from defusedxml.ElementTree import ParseError, iterparse

from biaslab.core.errors import InputError, number_of
from biaslab.embeddings.readers.common import Document, MeteredStream, open_stream

_ENDS_TOO_EARLY = {
    expat.errors.codes[message]
    for message in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
    )
}


_REDIRECT, _ELSEWHERE = "redirects", "outside the main namespace, as talk pages are"


def read_dump(path: str | os.PathLike, say: Callable[[str], None] = warnings.warn) -> Iterator[Document]:
    """Read the articles of a ``pages-articles`` dump, single- or multistream: main namespace, no redirects.

    Markup is removed by gensim's `filter_wiki`. `say` receives how many characters that were, how many pages
    are left out, and why; a dump without an article is refused.
    """
    from gensim.corpora.wikicorpus import IGNORED_NAMESPACES, filter_wiki

    elsewhere = tuple(f"{namespace}:" for namespace in IGNORED_NAMESPACES)
    n_pages, n_read, n_kept, left_out = 0, 0, 0, Counter()
    with open_stream(path) as stream:
        for n_pages, page in enumerate(_pages(MeteredStream(stream, path), path), 1):
            title = page.findtext("{*}title")
            if page.findtext("{*}ns", "0") != "0" or title.startswith(elsewhere):
                left_out[_ELSEWHERE] += 1
            elif page.find("{*}redirect") is not None:
                left_out[_REDIRECT] += 1
            else:
                markup = page.findtext("{*}revision/{*}text")
                text = filter_wiki(markup)
                n_read, n_kept = n_read + len(markup), n_kept + len(text)
                yield Document(
                    page.findtext("{*}id"),
                    title,
                    text,
                    where=f"{path}: page {n_pages} ('{title}')",
                )
    counts = ", ".join(f"{reason} ({n:,})" for reason, n in left_out.most_common())
    if not n_pages:
        raise InputError(f"{path}: has no page; give a pages-articles dump")
    if left_out.total() == n_pages:
        if len(left_out) == 1:
            raise InputError(
                f"{path}: all {number_of(n_pages, 'page')} are {next(iter(left_out))}; give a"
                " pages-articles dump"
            )
        raise InputError(f"{path}: no page is an article: {counts}; give a pages-articles dump")
    if left_out:
        say(f"{path}: pages left out: {counts}")
    if n_kept < n_read:
        say(f"{path}: markup left out: {n_read - n_kept:,} of {n_read:,} characters of the articles")


def _pages(stream: MeteredStream, path: str | os.PathLike) -> Iterator:
    """Yield each ``page`` element, and forget it afterwards; the dump's own root decides the namespace."""
    from gensim.corpora.wikicorpus import get_namespace

    root = None
    try:
        events = iterparse(stream, events=("start", "end"), forbid_dtd=True)
        _, root = next(events)
        page_tag = f"{{{get_namespace(root.tag)}}}page"
        for event, element in events:
            if event == "end" and element.tag == page_tag:
                if None in map(element.findtext, ("{*}title", "{*}id", "{*}revision/{*}text")):
                    raise InputError(f"{path}: a page has no title, id or text; use a pages-articles dump")
                yield element
                root.clear()
                stream.start_document()
    except DTDForbidden as error:
        raise InputError(f"{path}: declares a DOCTYPE, which no MediaWiki dump does; refused") from error
    except ParseError as error:
        raise InputError(f"{path}: {_fault(error, root)}") from error
    except (ValueError, LookupError) as error:
        raise InputError(f"{path}: not a MediaWiki dump ({error})") from error


def _fault(error: ParseError, root: object) -> str:
    if root is None:
        return f"not a MediaWiki dump ({error}); give the XML of pages-articles"
    if error.code in _ENDS_TOO_EARLY:
        return f"the dump is truncated ({error}); get it again"
    return f"the dump is damaged ({error}); get it again"
