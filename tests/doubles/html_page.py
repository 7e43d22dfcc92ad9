"""For tests of pages: a strict reader of HTML."""

import json
import re
from html.parser import HTMLParser

VOID = {"meta", "link", "input", "br", "hr", "img"}


class Page(HTMLParser):
    """Checks that elements are closed in order, and collects what tests ask for."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.tags, self.scripts = [], [], [], [], []
        self.attributes = []
        self.text = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if "id" in found:
            self.ids.append(found["id"])
        if tag == "a":
            self.links.append(found["href"])
        if tag == "script":
            self.scripts.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif "style" not in self.open:
            self.text.append(data)

    @property
    def data(self):
        return json.loads(self.scripts[0])

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())


def section(page, name):
    return re.search(rf'<section id="{name}".*?</section>', page, re.DOTALL)[0]


def rows(page, name):
    """The cells of the tables of a section, row by row."""
    found = re.findall(r"<tr>(.*?)</tr>", section(page, name), re.DOTALL)
    return [[re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<t[hd][ >].*?</t[hd]>", row)] for row in found]
