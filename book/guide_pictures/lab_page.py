"""A notebook in JupyterLab, used as a student uses it: by mouse and keyboard."""

from dataclasses import dataclass, field

SECONDS = 300  # on a busy machine a kernel takes a minute to import torch
CELLS = ".jp-Notebook .jp-Cell"
# JupyterLab may draw a cell anew at any time: look for it again each time.
RAN = r"""([cells, number, before]) => {
  const cell = document.querySelectorAll(cells)[number];
  const prompt = cell.querySelector('.jp-InputArea-prompt').innerText;
  return /\[\d+\]/.test(prompt) && prompt !== before;
}"""


@dataclass
class LabPage:
    """A page of a browser in which JupyterLab shows one notebook.

    Attributes:
        page: playwright's page.
        faults: what went wrong in the page: errors in its console and in its scripts.
    """

    page: object
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Listen to the console."""
        self.page.set_default_timeout(1000 * SECONDS)
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("console", self._note)

    def _note(self, message: object) -> None:
        if message.type == "error":
            self.faults.append(f"{message.text} ({message.location.get('url')})")

    def open(self, address: str, token: str, notebook: str) -> None:
        """Open a notebook by its path, and wait until its kernel can work."""
        self.page.goto(f"{address}/lab/tree/{notebook}?token={token}")
        self.page.locator(CELLS).first.wait_for()
        self.page.locator("#jupyterlab-splash").wait_for(state="detached")
        # Before the kernel is connected, JupyterLab runs nothing and does not say so.
        self.page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for()

    def cell(self, number: int) -> object:
        """Locate a cell by its place in the notebook, from 0."""
        return self.page.locator(CELLS).nth(number)

    def type_into(self, number: int, source: str) -> None:
        """Type a new source over that of a cell."""
        editor = self.cell(number).locator(".cm-content")
        editor.click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(source)

    def run(self, number: int) -> str:
        """Run a cell, wait until it has, and return the text below it."""
        prompt = self.cell(number).locator(".jp-InputArea-prompt")
        before = prompt.inner_text()
        prompt.click()
        self.page.keyboard.press("Control+Enter")
        self.page.wait_for_function(RAN, arg=[CELLS, number, before])
        outputs = self.cell(number).locator(".jp-OutputArea-output")
        return "\n".join(outputs.all_inner_texts())

    def save(self) -> None:
        """Save the notebook, and wait until it is on the disk."""
        self.page.keyboard.press("Control+s")
        self.page.locator(".jp-mod-dirty").wait_for(state="detached")

    def show_end(self, number: int) -> None:
        """Scroll to the end of a cell's output."""
        area = self.cell(number).locator(".jp-OutputArea-output").last
        area.evaluate("area => area.scrollIntoView({block: 'end'})")
        self.page.wait_for_timeout(500)
