"""A reader uses the figure by mouse, by keyboard and by touch."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
from axe import barriers

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.integration]

SENTENCE = "die frau ruft den alten mann an ."
TRANSLATION = "the woman calls the old man."
ALL = "heads beam model table own"


def test_it_translates_and_asks_for_its_own_files_alone(read, write_page):
    reader = read()
    reader.open(write_page())
    assert reader.translation == TRANSLATION
    assert reader.words("keys") == ["<sos>", *SENTENCE.split(), "<eos>"]
    assert reader.words("rows") == [*TRANSLATION[:-1].split(), ".", "<eos>"]
    names = [re.sub(r".*/", "", request) for request in reader.requests]
    assert sorted(names) == ["live.css", "live.js", "page.html", "tiny-model.js"]
    assert all(request.startswith("file:") for request in reader.requests)
    assert reader.faults == []


def test_the_model_is_loaded_when_the_figure_is_near(read, write_page):
    above = '<div style="height: 6000px"></div>'
    path = write_page("far", above)
    reader = read()
    reader.page.goto(path.as_uri())
    reader.page.wait_for_load_state("networkidle")
    assert not any("tiny-model" in request for request in reader.requests)
    reader.page.evaluate("window.scrollTo(0, 5000)")
    reader.page.wait_for_selector(".live-translator[data-ready]")
    assert reader.translation == TRANSLATION


def test_a_new_sentence_and_words_that_it_does_not_know(read, write_page):
    reader = read()
    reader.open(write_page())
    reader.type("Die Ärztin ruft den Elefanten an.")
    assert reader.translation.startswith("the doctor calls")
    assert (
        "“elefanten”" in reader.page.locator("[role=status] .live-remark").inner_text()
    )
    assert reader.page.locator(".live-unknown").all_inner_texts() == ["elefanten"]
    reader.type("   ")
    reader.type("wort " * 100)
    assert "left out" in reader.page.locator(".live-remark").inner_text()
    assert reader.faults == []


def test_every_example_is_translated_into_known_words(read, write_page, examples):
    reader = read()
    reader.open(write_page())
    assert len(examples) >= 12
    for example in examples:
        reader.page.get_by_label("Examples").select_option(example["text"])
        assert reader.page.locator(".live-why").inner_text() == example["why"]
        assert reader.translation.endswith((".", "?"))
        is_strange = "elefanten" in example["text"]
        assert reader.page.locator(".live-unknown").count() == is_strange


def test_a_second_hypothesis_rescues_das_das(read, write_page):
    reader = read()
    reader.open(write_page("das", "", "beam", text="ist das das fahrrad ?", k=1))
    assert reader.translation == "is that that that that the bicycle?"
    slider = reader.page.get_by_label("Beam size k")
    slider.focus()
    reader.page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "2"
    assert reader.translation == "is that the bicycle?"
    assert reader.page.locator(".live-hypotheses li").count() == 2


def test_the_tree_grows_step_by_step_and_by_playing(read, write_page):
    reader = read()
    reader.open(write_page("das", "", "beam", text="ist das das fahrrad ?"))
    step, nodes = reader.page.get_by_label("Step"), reader.page.locator(".live-tree g")
    whole = nodes.count()
    step.focus()
    counts = []
    for key in ("Home", "ArrowRight", "ArrowRight"):
        reader.page.keyboard.press(key)
        counts.append(nodes.count())
    assert counts[0] == 1 < counts[1] < counts[2] < whole
    reader.page.clock.install()
    reader.page.get_by_role("button", name="Play").click()
    reader.page.clock.run_for(60_000)
    assert nodes.count() == whole
    assert reader.page.get_by_role("button", name="Play").is_visible()


def test_a_word_that_is_pressed_shows_its_weights_and_a_source_word_hides(
    read, write_page
):
    reader = read()
    reader.open(write_page())
    rows, keys = (
        reader.page.locator(f".live-{side} button") for side in ("rows", "keys")
    )
    rows.nth(2).click()  # calls
    assert rows.nth(2).get_attribute("aria-pressed") == "true"
    shares = keys.locator(".live-share").all_inner_texts()
    assert int(shares[3].split()[0]) > 50  # ruft
    assert int(shares[7].split()[0]) > 5  # an
    assert "live-lit" in reader.page.locator("path[data-row='2']").first.get_attribute(
        "class"
    )
    keys.nth(3).click()  # ruft
    assert keys.nth(3).get_attribute("aria-pressed") == "true"
    assert reader.translation != TRANSLATION
    keys.nth(3).click()
    assert reader.translation == TRANSLATION


def test_a_bar_lies_below_its_word(read, write_page):
    reader = read()
    reader.open(write_page())
    words = reader.page.locator(":is(.live-keys, .live-rows) .live-word, .live-bars li")
    gaps = words.evaluate_all(
        """(boxes) => boxes.map((box) => {
          const thick = parseFloat(getComputedStyle(box).backgroundSize.split(" ")[1]);
          const range = document.createRange();
          range.selectNodeContents(box);
          const below = box.getBoundingClientRect().bottom - thick;
          return below - range.getBoundingClientRect().bottom;
        })"""
    )
    assert len(gaps) > 20
    assert min(gaps) >= 0


def test_heads_mask_and_positions_can_be_taken_away(read, write_page):
    reader = read()
    reader.open(write_page("all", "", ALL))
    before = reader.page.locator(".live-tree").inner_html()
    boxes = reader.page.locator(".live-head input")
    assert boxes.count() == 8
    for box in boxes.all()[4:]:
        box.uncheck()
    assert reader.page.locator(".live-off").count() == 4
    assert reader.page.locator(".live-tree").inner_html() != before
    reader.page.get_by_role("button", name="All heads on").click()
    assert reader.page.locator(".live-tree").inner_html() == before
    for name in ("positions", "causal mask"):
        reader.page.get_by_label(name).uncheck()
        assert reader.page.locator(".live-tree").inner_html() != before
        reader.page.get_by_role("button", name="As it was").click()
        assert reader.page.locator(".live-tree").inner_html() == before


def test_the_table_names_what_each_row_predicts(read, write_page):
    reader = read()
    reader.open(write_page("all", "", ALL))
    heads = reader.page.locator(".live-scroll tbody th").all_inner_texts()
    assert heads[:3] == [
        "<sos> → predicts the",
        "the → predicts woman",
        "woman → predicts calls",
    ]
    for row in reader.page.locator(".live-scroll tbody tr").all():
        assert abs(sum(map(int, row.locator("td").all_inner_texts())) - 100) <= 5
    for kind, first in (("self", "<sos> → predicts the"), ("encoder", "<sos>")):
        choice = reader.page.locator("label", has_text="Attention").locator("select")
        choice.select_option(kind)
        assert reader.page.locator(".live-scroll tbody th").first.inner_text() == first


def test_the_keyboard_reaches_everything_and_works_it(read, write_page):
    reader = read()
    reader.open(write_page("all", "", ALL))
    wanted = reader.page.evaluate(
        "() => [...document.querySelectorAll('.live-translator :is(button, input,"
        " select, summary, a[href], .live-scroll)')]"
        ".filter((node) => node.offsetParent).length"
    )
    reached = set()
    reader.page.locator("h1").click()
    for _ in range(wanted + 5):
        reader.page.keyboard.press("Tab")
        reached.add(
            reader.page.evaluate(
                "() => { const box = document.querySelector('.live-translator');"
                " return box.contains(document.activeElement) &&"
                " [...box.querySelectorAll('*')].indexOf(document.activeElement); }"
            )
        )
    assert len(reached - {False}) == wanted
    key = reader.page.locator(".live-keys button").nth(3)
    key.focus()
    reader.page.keyboard.press("Enter")
    assert key.get_attribute("aria-pressed") == "true"
    assert key.evaluate("(button) => button === document.activeElement")


def test_a_link_holds_the_sentence_and_the_settings(read, write_page):
    reader = read()
    path = write_page("all", "", ALL)
    reader.open(path)
    reader.type("ist das das fahrrad ?")
    reader.page.get_by_label("Beam size k").fill("1")
    reader.page.get_by_label("positions").uncheck()
    reader.page.locator(".live-head input").first.uncheck()
    said = reader.translation
    link = reader.page.locator(".live-link").get_attribute("href")
    other = read()
    other.open(path, link)
    assert other.translation == said
    assert not other.page.get_by_label("positions").is_checked()
    assert other.page.locator(".live-off").count() == 1
    other.open(
        path, "#live=live-1&k=99&alpha=x&kind=%3Cb%3E&layer=-4&head=77&text=%3Cb%3E"
    )
    assert other.words("keys") == ["<sos>", "<", "b", ">", "<eos>"]
    assert other.faults == []


def test_the_picture_that_is_saved_stands_alone(read, write_page, tmp_path):
    reader = read()
    reader.open(write_page())
    with reader.page.expect_download() as download:
        reader.page.get_by_role("button", name="Download").click()
    download.value.save_as(tmp_path / "attention.svg")
    root = ElementTree.parse(tmp_path / "attention.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    texts = [
        "".join(node.itertext()) for node in root.iter() if node.tag.endswith("}text")
    ]
    assert "woman → calls" in texts and "ruft" in texts


def test_without_a_script_and_on_paper_a_picture_stands_there(read, write_page):
    still = ".live-fallback"
    plain = read(java_script_enabled=False)
    plain.page.goto(write_page().as_uri())
    assert plain.page.locator(f"{still} svg").is_visible()
    assert TRANSLATION in plain.page.locator(f"{still} p").inner_text()
    reader = read()
    reader.open(write_page())
    assert not reader.page.locator(still).is_visible()
    reader.page.emulate_media(media="print")
    assert reader.page.locator(f"{still} svg").is_visible()
    assert not reader.page.locator(".live-translator").is_visible()


def test_reduced_motion_is_honoured(read, write_page):
    durations = []
    for motion in ("no-preference", "reduce"):
        reader = read(reduced_motion=motion)
        reader.open(write_page())
        durations.append(
            reader.page.locator(".live-arcs path").first.evaluate(
                "(path) => getComputedStyle(path).transitionDuration"
            )
        )
    assert durations == ["0.15s", "0s"]


def test_touch_lights_a_word_up(read, write_page):
    reader = read(390, has_touch=True, is_mobile=True)
    reader.open(write_page())
    reader.page.locator(".live-rows button").nth(5).tap()
    assert reader.page.locator("path.live-lit").first.get_attribute("data-row") == "5"


@pytest.mark.parametrize(
    ("width", "theme"),
    [
        (390, "light"),
        pytest.param(390, "dark", marks=pytest.mark.slow),
        pytest.param(1280, "light", marks=pytest.mark.slow),
        pytest.param(1280, "dark", marks=pytest.mark.slow),
    ],
)
def test_axe_finds_nothing_and_nothing_is_too_wide(read, write_page, theme, width):
    reader = read(width, theme)
    reader.open(write_page("all", "", ALL))
    assert barriers(reader.page) == []
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= width
