"""The figure is on its pages of the built book, on no other page, and accessible."""

import pytest

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.slow]

WITH_FIGURE = (
    *("index", "03_positional_encoding", "05_multi_head_attention", "07_masks"),
    *("09_decoder", "11_inference", "13_multi30k"),
)


def test_the_pages_with_the_figure_load_it_and_the_others_do_not(pages):
    loading = {page.stem for page in pages if "live/live.js" in page.read_text("utf-8")}
    assert loading == set(WITH_FIGURE)


def test_only_the_front_page_which_begins_with_it_comes_with_the_model(pages):
    model = "live/tiny-model.js"
    asking = {page.stem for page in pages if model in page.read_text("utf-8")}
    assert asking == {"index"}


def test_each_page_translates_and_asks_the_network_for_nothing(read, site):
    reader = read()
    for name in WITH_FIGURE:
        reader.page.goto((site / f"{name}.html").as_uri())
        reader.page.locator(".live-figure").scroll_into_view_if_needed()
        reader.page.wait_for_selector(".live-translator[data-ready]")
        assert reader.translation.endswith((".", "?"))
    assert all(url.startswith(("file:", "data:")) for url in reader.requests)
