"""In a real browser, no text of a student's runs code on a page or covers it."""

from pathlib import Path

import pytest
from chromium import browser
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from traitlets.config import Config

from autograder.grading.outputs import safe_outputs
from autograder.nbgrader_steps.feedback import FeedbackExporter
from autograder.nbgrader_steps.settings import configure
from autograder.sandbox.submission_runner import CellRun

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.integration]
OVER = "position:fixed;inset:0;z-index:99999;background:red"
FAR = "https://far.example/x"
PAYLOADS = [
    "<script>steal()</script><scr<script>ipt>steal()</script>",
    "<img src=x onerror=steal()><svg onload=steal()><animate onbegin=steal()></svg>",
    f'<p class="nbgrader_cell" id="why-check"><b class="full-credit" style="{OVER}">',
    '<div class="modal in" id="help-dialog" data-dismiss="modal" tabindex=1>x</div>',
    '<input class="score tabbable" id="double-check" autofocus onfocus=steal()>',
    "<form action=/formgrader/api/grade/1 method=post><button>x</button></form>",
    "<a href=javascript:steal()>x</a><a href='&#106;avascript:steal()'>y</a>",
    f"<img src={FAR}><img srcset='{FAR} 1x'><video poster={FAR}></video>",
    f"![x]({FAR}) <picture><source srcset={FAR}></picture><audio src={FAR} autoplay>",
    f"<style>@import url({FAR});b{{}}</style><link href={FAR} rel=stylesheet>",
    f"<iframe src={FAR}></iframe><embed src={FAR}><object data={FAR}></object>",
    f"<meta http-equiv=refresh content='0;url={FAR}'><base href={FAR}>",
    "<math><mtext><table><mglyph><style><img src=x onerror=steal()></style></mglyph>",
    "<noscript><p title='</noscript><img src=x onerror=steal()>'>",
    "<details open ontoggle=steal()><summary>x</details><dialog open>x</dialog>",
    "</div></div></div></div></body></html><h1>The page ends here</h1>",
    "## why\n\n# double-check\n\nwhy\n---\n\n<a name=top></a>",
    "```html\n</pre><img src=x onerror=steal()>\n```\n~~~\n</pre><b id=why>\n~~~",
    r"$\rule{900em}{900em}\style{position:fixed}{x}$ $\href{javascript:steal()}{y}$",
    r"$$\smash{\rlap{\rule[-500em]{900em}{900em}}}$$ $\cssId{why}{x}\class{score}{y}$",
    "| a |\n|---|\n| <b id=why style='top:0'>x</b> |\n\n[r]: javascript:steal()\n[r]",
    "<img src='data:image/svg+xml;base64,AA==' width=9999 height=9999>" + "W" * 9999,
    f"[x](//far.example/y 't\" onclick=steal() x=\"') <{FAR}> <q cite={FAR}>z</q>",
]
# Attributes by which our pages, scripts or styles would take a student's text for ours.
KNOWN = "[id], [name], [style], [class], [data-dismiss], [autofocus], script, form"
OWN = "a[href^='#'], input.score, textarea, button"
COVERED = """(own) => [...document.querySelectorAll(own)].filter(one => {
  if (one.closest('.text_cell_render, .output_subarea')) return false;
  one.scrollIntoView({block: 'center'});
  const box = one.getBoundingClientRect();
  if (!box.width || !box.height) return false;
  const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  return !(top && (one.contains(top) || top.contains(one)));
}).map(one => one.outerHTML)"""


def notebook():
    """Return a notebook with every payload in every kind of cell and output."""
    cells = []
    for payload in PAYLOADS:
        own = {"grade_id": "why", "solution": True, "grade": True, "score": 0}
        own |= {"points": 30, "ungraded": True, "comment": "", "task": False}
        kinds = ("text/html", "text/markdown", "text/latex", "text/plain")
        shown = [
            {"output_type": "display_data", "data": {kind: payload}} for kind in kinds
        ]
        shown.append({"output_type": "stream", "name": "stdout", "text": payload})
        error = {"type": payload, "message": payload, "line": 1, "code": payload}
        outputs = safe_outputs(CellRun(outputs=shown, error=error))
        text = new_markdown_cell(payload, attachments={"a": {"image/png": "AAAA"}})
        text.metadata["nbgrader"] = own
        cells += [text, new_code_cell(payload, outputs=outputs)]
    return new_notebook(cells=cells)


def feedback() -> str:
    config = Config()
    configure(config)
    about = {"notebook": "x", "score": 0, "max_score": 30, "late_penalty": 0}
    resources = {"nbgrader": about, "inlining": {"css": []}}
    return FeedbackExporter(config=config).from_notebook_node(notebook(), resources)[0]


def formgrader() -> str:
    config = Config()
    configure(config)
    config.HTMLExporter.template_name = "formgrade"
    known = {"base_url": "", "index": 0, "total": 1, "config_dir": ""}
    return HTMLExporter(config=config).from_notebook_node(notebook(), known)[0]


@pytest.mark.parametrize("make", [feedback, formgrader])
def test_nothing_acts_and_nothing_is_covered(make, tmp_path: Path):
    path = tmp_path / "page.html"
    path.write_text(make(), encoding="utf-8")
    with browser(tmp_path / "profile") as chrome:
        chrome.page.goto(path.as_uri(), wait_until="domcontentloaded")
        chrome.page.wait_for_timeout(1500)
        rooms = chrome.page.locator(".text_cell_render, .output_html, .output_markdown")
        assert rooms.count() == 3 * len(PAYLOADS)
        found = rooms.locator(KNOWN).evaluate_all("all => all.map(e => e.outerHTML)")
        assert found == []
        assert chrome.page.evaluate(COVERED, OWN) == []
        assert chrome.stolen == []
        assert not [one for one in chrome.outside if "far.example" in one]
        assert chrome.page.url == path.as_uri()
