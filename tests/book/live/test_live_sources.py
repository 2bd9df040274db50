"""The script's sources are typed and short, and compiled files come from them."""

import hashlib
import json
import re
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from course_book.live import add_to_page, folds, switch
from course_book.live_picture import picture
from course_book.live_script import LIVE, model_script, script, sources, write_files

from transformer.shipped_model.weights import FOLDER

HERE = Path(__file__).resolve().parent
MOST_LINES, MOST_LINES_OF_A_FUNCTION, WIDEST = 300, 40, 100
FUNCTION = re.compile(r"^( *)(?:async )?(?:function\*? |\*?\w+\(.*\) \{$|static \w+\()")


def ends(indent: str, line: str) -> bool:
    return line.startswith(f"{indent}}}")


def lengths_of_functions(text: str) -> dict[str, int]:
    """Return the number of lines of each function and method, by its first line."""
    lines, found = text.splitlines(), {}
    for start, line in enumerate(lines):
        head = FUNCTION.match(line)
        if head and not re.match(r" *(?:if|for|while|switch|return)\b", line):
            rest = (
                n for n, later in enumerate(lines[start + 1 :]) if ends(head[1], later)
            )
            found[line.strip()] = next(rest) + 2
    return found


@pytest.mark.integration
def test_the_type_checker_finds_nothing(npm):
    command = ["node", npm / "typescript" / "bin" / "tsc", "-p", LIVE]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_kernel_is_what_its_source_gives(npm):
    """If this test fails, write the right side into `linear.js`."""
    command = ["node", HERE / "assemble.js", LIVE / "engine" / "linear.wat"]
    made = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=True)
    text = (LIVE / "engine" / "linear.js").read_text("utf-8")
    committed = re.search(r"const KERNEL =\n(.*?);", text, re.DOTALL)[1]
    assert "".join(re.findall(r'"([^"]*)"', committed)) == made.stdout


def test_no_file_no_function_and_no_line_is_long():
    for path in sources():
        text = path.read_text("utf-8")
        assert len(text.splitlines()) <= MOST_LINES, path.name
        assert max(map(len, text.splitlines())) <= WIDEST, path.name
        assert text.startswith("// "), f"{path.name} does not say what is in it"
        long = {
            name: length
            for name, length in lengths_of_functions(text).items()
            if length > MOST_LINES_OF_A_FUNCTION
        }
        assert long == {}, path.name
    assert len(lengths_of_functions((LIVE / "engine" / "model.js").read_text())) > 8


def test_the_script_has_no_other_file_and_no_module():
    text = script()
    assert (
        "fetch(" not in text
        and "import(" not in text
        and "http:" not in re.sub(r"http://www\.w3\.org/2000/svg", "", text)
    )
    assert not re.search(r"^(?:import|export) ", text, re.MULTILINE)


def test_the_model_in_the_book_is_the_shipped_one():
    model = json.loads(
        model_script().removeprefix("window.CourseModel = ").rstrip(";\n")
    )
    names = ("tiny-encoder.safetensors", "tiny-decoder.safetensors")
    hashes = [
        hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() for name in names
    ]
    assert model["sha256"] == hashes


def test_the_figure_adds_little_to_the_book(tmp_path):
    write_files(tmp_path)
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert sizes.keys() == {"live.js", "live.css", "tiny-model.js"}
    assert sum(sizes.values()) <= 2_600_000


@pytest.mark.parametrize(
    ("page", "body", "loaded"),
    [
        (
            "index",
            '<div class="live-figure">',
            ["live.css", "tiny-model.js", "live.js"],
        ),
        ("page", '<div class="live-figure">', ["live.css", "live.js"]),
        ("index", "<p>", []),
    ],
)
def test_a_page_without_the_figure_loads_nothing(page, body, loaded):
    asked = []
    app = SimpleNamespace(
        config=SimpleNamespace(root_doc="index"),
        add_css_file=asked.append,
        add_js_file=lambda name, **options: asked.append(name),
    )
    add_to_page(app, page, f"{page}.html", {"body": body}, None)
    assert [name.removeprefix("../live/") for name in asked] == loaded


def test_options_that_mean_nothing_are_refused():
    assert folds("heads  beam") == "heads beam"
    assert (switch("on"), switch("off")) == (1, 0)
    for check, text in ((folds, "heads tree"), (switch, "yes")):
        with pytest.raises(ValueError, match=text.split()[-1]):
            check(text)


def test_the_picture_says_what_it_shows():
    html = picture("die frau ruft den alten mann an .")
    assert "“calls” at “ruft”" in html
    assert "the woman calls the old man." in html
