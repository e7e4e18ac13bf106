"""What a page of HTML consists of."""

from html.parser import HTMLParser

VOID = {"meta", "img", "input", "line", "rect", "circle", "link", "br"}


class Page(HTMLParser):
    """Checks that every element is closed; collects names of elements, links, and texts."""

    def __init__(self, content):
        super().__init__()
        self.open, self.tags, self.links, self.texts = [], [], [], []
        self.feed(content)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("href", "src")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)
