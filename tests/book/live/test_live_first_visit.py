"""A first visit: the figure explains each problem, and no reader gets lost."""

import xml.etree.ElementTree as ElementTree

import pytest

from transformer.training.page_file import page_file

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.integration]

ALL = "heads beam model table own"
SAID_AGAIN = """() => {
  window.said = 0;
  const watch = new MutationObserver((changes) => { window.said += changes.length; });
  const deep = { childList: true, characterData: true, subtree: true };
  const lines = document.querySelectorAll("[role=status]");
  for (const line of lines) watch.observe(line, deep);
}"""
TWO_FILES = """() => {
  const data = new DataTransfer();
  for (const name of ["one", "two"]) data.items.add(new File(["?"], name));
  const drop = new DragEvent("drop", { dataTransfer: data, bubbles: true });
  document.querySelector(".live-translator").dispatchEvent(drop);
}"""

FOLDER = """() => {
  const folder = new File([], "folder");
  folder.arrayBuffer = () => Promise.reject(new DOMException("as a browser says it"));
  const drop = new DragEvent("drop", { bubbles: true });
  Object.defineProperty(drop, "dataTransfer", { value: { files: [folder] } });
  document.querySelector(".live-translator").dispatchEvent(drop);
}"""


def remark(reader) -> str:
    return reader.page.locator(".live-remark").inner_text()


def choose_own(reader, shipped) -> None:
    """Open a model of the reader's own, and wait until it is loaded."""
    content = page_file(shipped.model, shipped.words)
    file = {"name": "mine", "mimeType": "", "buffer": content}
    reader.page.locator("input[type=file]").set_input_files(file)
    reader.page.get_by_role("button", name="Back to the course's model").wait_for()


def test_a_changed_model_is_never_taken_for_the_course_s(read, write_page, tmp_path):
    path = write_page("all", "", ALL)
    reader = read()
    reader.open(path)
    assert remark(reader) == ""
    reader.page.locator(".live-keys button").nth(3).click()
    assert "Changed: 1 word hidden." in remark(reader)
    reader.page.get_by_label("positions").uncheck()
    for box in reader.page.locator(".live-head input").all()[:2]:
        box.uncheck()
    said = "Changed: no positions, 2 heads silenced, 1 word hidden."
    assert said in remark(reader)
    link = reader.page.locator(".live-link").get_attribute("href")
    with reader.page.expect_download() as download:
        reader.page.get_by_role("button", name="Download").click()
    download.value.save_as(tmp_path / "attention.svg")
    texts = "".join(ElementTree.parse(tmp_path / "attention.svg").getroot().itertext())
    assert said.rstrip(".") in texts
    reader.page.get_by_role("button", name="As it was").click()
    assert remark(reader) == ""
    other = read()
    other.open(write_page(), link)  # with the changed part folded
    assert said in remark(other)
    other.open(path, "#live=live-1&off=nonsense&hidden=a&text=die+frau")
    assert remark(other) == ""


def test_no_sentence_and_one_that_is_too_long(read, write_page):
    reader = read()
    reader.open(write_page())
    for nothing in ("", "   "):
        reader.type(nothing)
        assert reader.translation == "…"
        assert remark(reader) == "There is no sentence yet: type one."
    sentence = "die frau ruft den alten mann an " * 29
    reader.type(sentence)
    read_words = len(reader.words("keys")) - 2
    rest = len(sentence.split()) - read_words
    wanted = f"It reads {read_words} words at most: the last {rest} are left out."
    assert wanted in remark(reader)


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_a_button_that_goes_hands_its_focus_on(read, write_page, shipped, key):
    reader = read()
    reader.open(write_page("all", "", ALL))
    page = reader.page
    page.locator(".live-head input").first.uncheck()
    page.get_by_role("button", name="All heads on").press(key)
    focus = "document.activeElement.getAttribute('aria-label')"
    assert page.evaluate(focus) == "layer 2, head 4 on"
    choose_own(reader, shipped)
    page.get_by_role("button", name="Back to the course's model").press(key)
    assert page.evaluate("document.activeElement.type") == "file"


def test_a_line_that_stays_is_not_read_out_again(read, write_page):
    reader = read()
    reader.open(write_page("all", "", ALL))
    reader.page.evaluate(SAID_AGAIN)
    reader.page.locator(".live-rows button").nth(4).click()
    reader.page.get_by_label("Step").press("ArrowLeft")
    reader.page.locator(".live-map").first.click()
    assert reader.page.evaluate("window.said") == 0
    reader.page.locator(".live-keys button").nth(3).click()
    assert reader.page.evaluate("window.said") > 0


def test_large_letters_on_a_telephone_cut_no_word(read, write_page):
    """At double size, the page stays as wide as the window, and its words scroll."""
    reader = read(390, has_touch=True, is_mobile=True)
    text = "keine junge schwester kann dem kleinen onkel antworten ."
    reader.open(write_page("large", "", ALL, text=text))
    reader.page.evaluate("document.documentElement.style.fontSize = '200%'")
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= 390
    words = reader.page.locator(".live-word .live-text")
    lefts = words.evaluate_all(
        "words => words.map(word => word.getBoundingClientRect().left)"
    )
    assert min(lefts) > 0  # a reader cannot scroll to a part that is cut on the left
    last = words.last
    last.scroll_into_view_if_needed()
    box = last.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390


def test_the_table_s_caption_is_read_without_scrolling(read, write_page):
    reader = read(390, has_touch=True, is_mobile=True)
    reader.open(write_page("table", "", "table"))
    box = reader.page.get_by_role("region", name="Attention weights")
    wide = "box => box.scrollWidth > box.clientWidth + 50"
    caption = (
        "box => box.querySelector('caption span').getBoundingClientRect().toJSON()"
    )
    for left in (0, 100):
        box.evaluate(f"box => {{ box.scrollLeft = {left}; }}")
        assert box.evaluate(wide)
        place = box.evaluate(caption)
        assert place["left"] >= 0 and place["right"] <= 390


def test_a_new_sentence_is_searched_to_its_end(read, write_page):
    reader = read()
    reader.open(write_page("all", "", ALL))
    reader.page.get_by_label("Step").press("Home")
    reader.type("ist das das fahrrad ?")
    assert (
        reader.page.locator(".live-hypotheses li")
        .first.inner_text()
        .startswith("is that the bicycle ?")
    )


def test_the_same_file_can_be_chosen_again(read, write_page, shipped):
    """A browser reports no choice if the reader chooses the same file name again."""
    reader = read()
    reader.open(write_page("own", "", "own"))
    choose_own(reader, shipped)
    files = reader.page.locator("input[type=file]")
    assert files.evaluate("input => input.files.length") == 1
    with reader.page.expect_file_chooser():
        files.click()
    assert files.evaluate("input => input.files.length") == 0
    assert reader.page.get_by_role("button", name="Back to the course").is_visible()


def test_a_link_says_that_it_holds_no_model(read, write_page, shipped):
    reader = read()
    reader.open(write_page("own", "", "own"))
    link = reader.page.locator(".live-link")
    assert link.inner_text() == "Link to this sentence and these settings"
    choose_own(reader, shipped)
    assert link.inner_text().endswith(", with the course's model")


def test_a_small_probability_is_not_written_as_none(read, write_page):
    reader = read()
    reader.open(write_page("warm", "", "beam", temperature=3, k=5))
    shares = reader.page.locator(".live-numbers").all_inner_texts()
    assert any("probability < 0.0001" in share for share in shares)
    assert not any("probability 0.0000" in share for share in shares)


def test_several_files_and_a_folder_are_refused(read, write_page):
    reader = read()
    reader.open(write_page("own", "", "own"))
    about = reader.page.locator(".live-help[role=status]")
    reader.page.evaluate(TWO_FILES)
    keeps = "The figure keeps the model that it has."
    assert about.inner_text() == f"Drop one file at a time. {keeps}"
    reader.page.evaluate(FOLDER)
    about.filter(has_text="folder is refused. It cannot be read").wait_for()
    assert about.inner_text().endswith(keeps)
    assert reader.faults == []
