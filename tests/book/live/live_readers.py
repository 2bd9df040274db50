"""A browser window with a live translator."""

from pathlib import Path

from chromium import PATIENCE

READY = ".live-translator[data-ready]"


class Reader:
    """A window that records every error in it and every request to the network."""

    def __init__(self, chromium: object, width: int, theme: str, **options) -> None:
        size = {"width": width, "height": 900}
        self.context = chromium.new_context(viewport=size, **options)
        self.context.set_default_timeout(PATIENCE)
        self.theme = theme
        self.page = self.context.new_page()
        self.faults: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.faults.append(message.text))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def open(self, path: Path, link: str = "") -> None:
        """Open a page and wait until its figure has answered."""
        self.page.goto(path.as_uri() + link)
        self.page.evaluate(
            "t => { document.documentElement.dataset.theme = t; }", self.theme
        )
        self.page.wait_for_selector(READY)

    def close(self) -> None:
        self.context.close()

    @property
    def translation(self) -> str:
        return self.page.locator(".live-status strong").inner_text()

    def words(self, side: str) -> list[str]:
        """Return the words of a column of the figure: "keys" or "rows"."""
        return self.page.locator(f".live-{side} .live-text").all_inner_texts()

    def type(self, sentence: str) -> None:
        self.page.locator(".live-input").fill(sentence)
