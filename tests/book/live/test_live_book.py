"""The figure in the built book: on its pages, on no other, and open to everyone."""

import pytest

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.slow]

WITH_FIGURE = (
    *("index", "03_positional_encoding", "05_multi_head_attention", "07_masks"),
    *("09_decoder", "11_inference", "13_multi30k"),
)
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
AXE = """(values) => axe.run(document, {
  runOnly: { type: "tag", values }, resultTypes: ["violations"],
}).then(({ violations }) => violations.map(({ id, nodes }) =>
  `${id}: ${nodes.map((node) => node.html.slice(0, 100)).slice(0, 3).join(" ")}`))"""


def test_the_pages_with_the_figure_load_it_and_the_others_do_not(pages):
    loading = {page.stem for page in pages if "live/live.js" in page.read_text("utf-8")}
    assert loading == set(WITH_FIGURE)


def test_each_page_translates_and_asks_the_network_for_nothing(read, site):
    reader = read()
    for name in WITH_FIGURE:
        reader.page.goto((site / f"{name}.html").as_uri())
        reader.page.locator(".live-figure").scroll_into_view_if_needed()
        reader.page.wait_for_selector(".live-translator[data-ready]")
        assert reader.translation.endswith((".", "?"))
    assert all(url.startswith(("file:", "data:")) for url in reader.requests)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing_on_the_first_page(read, site, npm, theme, width):
    reader = read(width, theme, color_scheme=theme)
    reader.open(site / "index.html")
    reader.page.evaluate((npm / "axe-core" / "axe.min.js").read_text("utf-8"))
    assert reader.page.evaluate(AXE, RULES) == []
    shown = reader.page.evaluate("document.documentElement.dataset.theme")
    assert shown == theme
