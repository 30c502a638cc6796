"""A page as its parser meets it."""

from html.parser import HTMLParser

ALONE = ("meta", "br", "img", "input", "link")


class Page(HTMLParser):
    """What a page loads and links to, its elements with their attributes, the names of its parts and its words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.names: list[str] = []
        self.words: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        self.loaded += [values[key] for key in ("src", "srcset", "data") if values.get(key)]
        self.loaded += [tag] if tag in ("link", "iframe", "object") else []
        self.links += [values["href"]] if values.get("href") else []
        self.names += [values["id"]] if values.get("id") else []
        self.elements.append((tag, values))
        self.open += [] if tag in ALONE else [tag]

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["script"]:
            self.scripts.append(data)
        elif self.open[-1:] != ["style"]:
            self.words.append(data)

    def of(self, *tags: str) -> list[dict[str, str | None]]:
        """The attributes of the elements of these tags."""
        return [values for tag, values in self.elements if tag in tags]
