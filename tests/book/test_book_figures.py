"""The figures that chapters share: their look, heat maps, sliders."""

import base64
import io
import re
from types import SimpleNamespace

import pytest
import torch
from bs4 import BeautifulSoup
from course_book.narrow_figures import SMALL_PAGE, show_narrow_figures
from PIL import Image

from transformer.plots.slider import slider_figure
from transformer.plots.style import (
    PALETTE,
    SIGNED,
    Picture,
    Scale,
    heatmap,
    new_picture,
)

ROWS, COLUMNS = ["the", "woman"], ["die", "frau", "."]


def contrast_with_white(colour: str) -> float:
    """Return the WCAG contrast ratio of a colour with white."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts
    ]
    red, green, blue = linear
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)


def some_frames(count: int = 3) -> list[Picture]:
    return [
        heatmap(torch.rand(2, 3), ROWS, COLUMNS, f"Frame {number}")
        for number in range(count)
    ]


def parsed(figure: object) -> BeautifulSoup:
    return BeautifulSoup(figure._repr_html_(), "html.parser")


def test_heatmap_names_rows_columns_and_both_axes():
    axes = heatmap(torch.rand(2, 3), ROWS, COLUMNS, "What it shows").axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ROWS
    assert [label.get_text() for label in axes.get_xticklabels()] == COLUMNS
    assert axes.get_title(loc="left") == "What it shows"
    assert "target" in axes.get_ylabel()
    assert "source" in axes.get_xlabel()


def test_heatmap_refuses_labels_that_do_not_fit():
    with pytest.raises(ValueError, match=r"expected a matrix of \(3, 2\).*\(2, 3\)"):
        heatmap(torch.rand(2, 3), COLUMNS, ROWS, "Turned round")


def test_heatmap_writes_values_where_asked():
    scale = Scale(digits=2)
    axes = heatmap([[0.0, 0.5, 1.0]], ["a"], COLUMNS, "Values", scale).axes[0]
    assert [text.get_text() for text in axes.texts] == ["0.00", "0.50", "1.00"]
    assert [text.get_color() for text in axes.texts] == ["black", "black", "white"]


def test_a_signed_scale_puts_zero_in_the_middle():
    image = heatmap([[0.0, -1.0, 1.0]], ["a"], COLUMNS, "Signed", SIGNED).axes[0].images
    assert image[0].norm(0.0) == pytest.approx(0.5)


@pytest.mark.integration
def test_a_picture_is_the_same_svg_each_time():
    def draw() -> str:
        picture, axes = new_picture()
        axes.plot([1, 2, 3])
        return picture._repr_svg_()

    first = draw()
    assert first.lstrip().startswith("<?xml")
    assert first == draw()


@pytest.mark.parametrize("colour", PALETTE[:5])
def test_colours_of_lines_stand_out_from_white(colour):
    assert contrast_with_white(colour) >= 2.5


@pytest.mark.integration
def test_slider_holds_all_frames_and_shows_one():
    soup = parsed(
        slider_figure(some_frames(), ["k = 1", "k = 2", "k = 3"], "k", "Map", 1)
    )
    images = soup.find_all("img")
    assert [image.has_attr("hidden") for image in images] == [True, False, True]
    assert [image["alt"] for image in images] == [f"Map (k = {k})" for k in (1, 2, 3)]
    slider = soup.find("input")
    assert (slider["min"], slider["max"], slider["value"]) == ("0", "2", "1")
    assert soup.find("label")["for"] == slider["id"]
    assert soup.find("output")["for"] == [slider["id"]]
    assert soup.find("output").get_text() == slider["aria-valuetext"] == "k = 2"


def test_slider_frames_are_small_images():
    soup = parsed(slider_figure(some_frames(1), ["one"], "k", "Map"))
    data = base64.b64decode(soup.find("img")["src"].partition(",")[2])
    assert Image.open(io.BytesIO(data)).width > 400
    assert len(data) < 40_000


@pytest.mark.integration
def test_slider_frames_have_a_version_for_a_telephone():
    soup = parsed(slider_figure(some_frames(2), ["one", "two"], "k", "Map"))
    for picture in soup.find_all("picture"):
        source, image = picture.source, picture.img
        assert source["media"] == SMALL_PAGE == "(width < 600px)"
        assert source["srcset"] != image["src"]
        assert float(source["data-words"]) > float(image["data-words"])


def test_a_figure_of_a_page_gets_its_narrow_version(tmp_path):
    (tmp_path / "wide.svg").write_text(some_frames(1)[0]._repr_svg_())
    (tmp_path / "plain.svg").write_text("<svg></svg>")
    images = {"wide.svg": "a1.svg", "plain.svg": "b2.svg"}
    app = SimpleNamespace(
        srcdir=tmp_path,
        outdir=tmp_path / "html",
        builder=SimpleNamespace(images=images, imagedir="_images"),
    )
    body = '<img alt="x" src="_images/a1.svg" /><img alt="y" src="_images/b2.svg" />'
    context = {"body": body}
    show_narrow_figures(app, "page", "page.html", context, doctree=object())
    soup = BeautifulSoup(context["body"], "html.parser")
    assert [image.parent.name for image in soup("img")] == ["picture", "[document]"]
    assert soup.source["srcset"] == "_images/a1-narrow.svg"
    assert soup.source["media"] == SMALL_PAGE
    assert "<svg" in (tmp_path / "html" / "_images" / "a1-narrow.svg").read_text()


def test_slider_escapes_what_it_is_given():
    figure = slider_figure(some_frames(1), ['<b> & "b"'], "<i>", '"alt"')
    assert not re.search(r"<[bi]>", figure._repr_html_())
    assert parsed(figure).find("img")["data-label"] == '<b> & "b"'


def test_slider_asks_for_a_label_for_each_frame():
    with pytest.raises(ValueError, match="found 2 frames and 1 labels"):
        slider_figure(some_frames(2), ["one"], "k", "Map")
    with pytest.raises(ValueError, match="found 0 frames and 0 labels"):
        slider_figure([], [], "k", "Map")
