"""Attacks on a reader of the results: scripts in pages, escapes in terminals."""

from handing_in import Collection, HandIn, markdown, score_output

ATTACKS = Collection()
SCRIPT = "<script>steal()</script><img src=x onerror=steal()>"
SHOW = f"""
from IPython.display import HTML, Javascript, Latex, Markdown, SVG, display
script = {SCRIPT!r}
"""

ATTACKS.cells(
    "shows scripts to the instructor",
    20.0,
    script_in_html=SHOW + "display(HTML(script), HTML('<svg onload=steal()>'))",
    script_in_latex=SHOW + "display(Latex('$' + script + '$'))",
    script_in_markdown_output=SHOW
    + "display(Markdown(script + '[x](javascript:steal())'))",
    script_as_such=SHOW
    + """
display(Javascript("steal()"))
display({"text/html": [script], "application/javascript": "steal()"}, raw=True)
display({"image/svg+xml": "<svg onload='steal()'/>", "text/plain": script}, raw=True)
display({"application/vnd.jupyter.widget-view+json": {"model_id": script}}, raw=True)
""",
    script_in_printing=SHOW + "print(script, '</pre>' + script)\nscript",
    script_in_an_error=SHOW
    + "raise type('E' + script, (Exception,), {})('</pre>' + script)",
    escapes_in_printing="""
import sys
print("\\x1b[2J\\x1b]0;title\\x07\\x1b]8;;http://evil\\x07link\\x9b31m\\u202e 70 of 70")
print("\\x1b[31mred", file=sys.stderr)
raise ValueError("\\x1b[31m\\u202e70 of 70\\r\\n\\x07")
""",
)
ATTACKS.cells(
    "names its classes so that a report shows scripts and escapes",
    0.0,
    names_of_classes=f"""
name = "\\x1b[31m\\u202e" + {SCRIPT!r} + "\\ud800"
def double(x): return type(name, (), {{}})()
def quadruple(x): raise type(name, (Exception,), {{}})(name)
def Scaler(size): return type(name, (), {{"__call__": lambda self, x: self}})()
""",
)


@ATTACKS.case("writes scripts into Markdown, raw cells and attachments", score=20.0)
def script_in_markdown(hand: HandIn) -> None:
    hand.right("double")
    hand.cell("why")["source"] = SCRIPT + "[x](javascript:steal())"
    cell = markdown(SCRIPT + "![x](attachment:x.svg)")
    cell["attachments"] = {"x.svg": {"image/svg+xml": "PHN2ZyBvbmxvYWQ9c3RlYWwoKT4="}}
    hand.cells += [cell, {**markdown(SCRIPT), "cell_type": "raw"}]


@ATTACKS.case("hides scripts in the notebook's own metadata and outputs", score=20.0)
def script_in_metadata(hand: HandIn) -> None:
    hand.right("double")
    hand.raw["metadata"] |= {
        "title": SCRIPT,
        "authors": [{"name": SCRIPT}],
        "kernelspec": {"name": SCRIPT, "display_name": SCRIPT, "language": SCRIPT},
        "language_info": {"name": SCRIPT, "pygments_lexer": SCRIPT},
        "widgets": {"application/vnd.jupyter.widget-state+json": {"state": SCRIPT}},
    }
    hand.cell("double")["outputs"] = [
        score_output(SCRIPT) | {"data": {"text/html": SCRIPT}}
    ]


@ATTACKS.case(
    "has terminal escapes in its name",
    score=None,
    says="name",
    student="\x1b[31mred\x1b]0;title\x07",
)
def escapes_in_the_name(hand: HandIn) -> None:
    hand.right("double")


@ATTACKS.case(
    "has a name that is a script", None, "name", student="<b onclick=steal()>x"
)
def script_in_the_name(hand: HandIn) -> None:
    hand.right("double")


@ATTACKS.case(
    "has a name that a shell or a pattern takes apart",
    None,
    "name",
    student="[a-z]*$(x);'\"",
)
def pattern_in_the_name(hand: HandIn) -> None:
    hand.right("double")


@ATTACKS.case("has a name that looks like an option", score=20.0, student="--force")
def option_for_a_name(hand: HandIn) -> None:
    hand.right("double")
