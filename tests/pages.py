"""Reading an HTML page in tests: whether it is whole, what it would load, what its tables say."""

import re
from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """Everything of interest in a page.

    Attributes:
        open_tags: elements that have not been closed.
        tags: names of all elements with their attributes.
        texts: texts outside scripts and styles.
        rows: cells of all table rows.
        headings: texts of h1 to h3.
    """

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open_tags: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.rows: list[list[str]] = []
        self.headings: list[str] = []
        self.scripts: list[str] = []
        self.feed(html)
        self.close()
        assert self.open_tags == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open_tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag in ("h1", "h2", "h3"):
            self.headings.append("")
        if tag == "script":
            self.scripts.append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open_tags.pop() == tag

    def handle_data(self, data):
        if "script" in self.open_tags:
            self.scripts[-1] += data
        elif "style" not in self.open_tags:
            self.texts.append(data)
        if self.open_tags and self.open_tags[-1] in ("h1", "h2", "h3"):
            self.headings[-1] += data
        if "td" in self.open_tags or "th" in self.open_tags:
            self.rows[-1][-1] += data + " "

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def assert_stands_alone(self, html: str) -> None:
        """Nothing is loaded, and everything that is referred to is there once."""
        for name, attributes in self.tags:
            for key in ("src", "href", "xlink:href", "action", "data"):
                assert (attributes.get(key) or "#").startswith("#"), (name, attributes)
        assert not re.search(r"@import|url\((?!#)", html)
        ids = [attributes["id"] for _, attributes in self.tags if "id" in attributes]
        assert len(set(ids)) == len(ids)
        referred = set(re.findall(r'(?:href="#|url\(#)([^")]+)', html))
        assert referred <= set(ids)

    def assert_accessible(self) -> None:
        """Header cells say what they head, drawings have words, and the page has one main heading."""
        assert all(attributes.get("scope") in ("row", "col") for name, attributes in self.tags if name == "th")
        drawings = [name for name, _ in self.tags if name == "svg"]
        spoken = [attributes["aria-label"] for _, attributes in self.tags if attributes.get("role") == "img"]
        assert len(drawings) == len(spoken)
        assert all(len(words or "") > 20 for words in spoken)
        assert [name for name, _ in self.tags if name == "h1"] == ["h1"]
        assert ("html", {"lang": "en"}) in self.tags
