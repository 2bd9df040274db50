"""The page reads, checks and uses a reader's own model, and refuses other files."""

import base64
import dataclasses
import json
import re
from pathlib import Path

import pytest
import torch
from safetensors.torch import load, save

from transformer.config import TransformerConfig
from transformer.data import Vocabulary
from transformer.data.special_tokens import SPECIAL_TOKENS
from transformer.model import Transformer
from transformer.training.page_file import page_file, save_page_file

pytestmark = [pytest.mark.needs("chromium"), pytest.mark.integration]
REMEDY = "Write it with `python -m transformer page RUN`. The figure keeps the model"
FRAMES = """() => {
  window.longest = 0;
  let before = performance.now();
  const frame = (now) => {
    window.longest = Math.max(window.longest, now - before);
    before = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}"""


@pytest.fixture(scope="module")
def content(shipped) -> bytes:
    """Return the shipped model as a reader's own file."""
    return page_file(shipped.model, shipped.words)


def metadata_of(content: bytes) -> dict[str, str]:
    size = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + size])["__metadata__"]


def changed(content: bytes, **metadata: object) -> bytes:
    """Return a file with other metadata. The value None removes a field."""
    known = (metadata_of(content) | metadata).items()
    return save(load(content), {name: text for name, text in known if text is not None})


def with_tensors(content: bytes, **shapes: tuple[int, ...]) -> bytes:
    """Return a file in which some tensors have other shapes.

    The shape () removes one.
    """
    metadata, tensors = metadata_of(content), load(content)
    for name, shape in shapes.items():
        tensors.pop(name)
        if shape:
            tensors[name] = torch.zeros(shape, dtype=torch.half)
    return save(tensors, metadata)


def faulty(content: bytes) -> dict[str, tuple[bytes, str]]:
    """Return wrong files, each with the message that the page must show."""
    w_q = "decoder.layers.1.self_attention.w_q.weight"
    half = {name: () for name in load(content) if name.startswith("decoder.")}
    config = json.loads(metadata_of(content)["config"])
    return {
        "empty": (b"", "no safetensors file: it has 0 bytes"),
        "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(99), "no safetensors file"),
        "words": (b"\x05\0\0\0\0\0\0\0hello", "its header cannot be read"),
        "too short": (content[:-100], "The file ends in the middle of"),
        "half of a model": (
            with_tensors(content, **half),
            "lacks tensors of the model",
        ),
        "another shape": (
            with_tensors(content, **{w_q: (64, 128)}),
            f"{w_q}: expected the shape 128 × 128, found 64 × 128",
        ),
        "no configuration": (changed(content, config=None), "no configuration"),
        "a broken one": (changed(content, config="{"), "cannot be read"),
        "no layers": (
            changed(content, config=json.dumps(config | {"n_layers": 0})),
            "n_layers",
        ),
        "odd heads": (
            changed(content, config=json.dumps(config | {"n_heads": 3})),
            "no multiple",
        ),
        "few words": (
            changed(content, words='[["a"], ["b"]]'),
            "Expected 878 source words",
        ),
        "no words": (changed(content, words="[1, 2]"), "no list of the source words"),
    }


def choose(reader, content: bytes, name: str = "mine.safetensors") -> None:
    file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    reader.page.locator("input[type=file]").set_input_files(file)


def notice(reader, pattern: str) -> None:
    """Wait until the page shows a message."""
    said = reader.page.locator(".live-help[role=status]")
    said.filter(has_text=re.compile(pattern)).wait_for()


def test_a_file_of_ones_own_translates_as_the_course_s(read, write_page, content):
    reader = read()
    reader.open(write_page("own", "", "own beam"))
    before = reader.page.locator(".live-tree").inner_html()
    choose(reader, content)
    notice(reader, "mine.safetensors: 837,606 parameters, 2 layers")
    assert reader.page.locator(".live-tree").inner_html() == before
    reader.type("der mann schläft .")
    reader.page.locator("[role=status]", has_text="the man sleeps.").wait_for()
    reader.page.get_by_role("button", name="Back to the course's model").click()
    assert reader.translation == "the man sleeps."
    assert reader.faults == []


def test_examples_are_offered_to_a_model_that_knows_their_words(
    read, write_page, shipped, tmp_path, examples
):
    """The course's vocabulary has all words but one, and another one has three."""
    target = shipped.words[1]
    few = Vocabulary([*SPECIAL_TOKENS, "der", "mann", "schläft", "."])
    config = dataclasses.replace(shipped.model.config, src_vocab_size=len(few))
    files = {
        "same": page_file(shipped.model, shipped.words),
        "few": page_file(Transformer(config), (few, target)),
    }
    reader = read()
    reader.open(write_page("own", "", "own"))
    choice = reader.page.get_by_label("Examples")
    offered = choice.locator("option:not([value=''])")
    assert offered.count() == len(examples)
    choose(reader, files["same"], "same")
    notice(reader, "same: 837,606 parameters")
    known = [one["text"] for one in examples if "elefanten" not in one["text"]]
    assert offered.all_inner_texts() == known
    choose(reader, files["few"], "few")
    notice(reader, "few: ")
    choice.wait_for(state="hidden")
    reader.page.get_by_role("button", name="Back to the course's model").click()
    choice.wait_for(state="visible")
    assert offered.count() == len(examples)


def test_a_file_can_be_dropped(read, write_page, content):
    reader = read()
    reader.open(write_page("own", "", "own"))
    reader.page.evaluate(
        """(text) => {
          const data = new DataTransfer();
          const bytes = CourseLive.fromBase64(text);
          data.items.add(new File([bytes], "dropped.safetensors"));
          const box = document.querySelector(".live-translator");
          box.dispatchEvent(new DragEvent("drop", { dataTransfer: data }));
        }""",
        base64.b64encode(content).decode("ascii"),
    )
    notice(reader, "dropped.safetensors: 837,606 parameters")


def test_wrong_files_are_refused_in_words_and_the_page_goes_on(
    read, write_page, content
):
    reader = read()
    reader.open(write_page("own", "", "own"))
    for name, (wrong, said) in faulty(content).items():
        choose(reader, wrong, name)
        notice(reader, f"^{name} is refused.*{re.escape(said)}.*{re.escape(REMEDY)}")
        reader.type("der mann schläft .")
        assert reader.translation == "the man sleeps.", name
        reader.type("die frau schläft .")
        assert reader.translation == "the woman sleeps.", name
    assert reader.faults == []


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_model_whose_training_went_astray_is_refused(
    read, write_page, content, value
):
    tensors = load(content)
    tensors["projection.bias"][7] = value
    reader = read()
    reader.open(write_page("own", "", "own"))
    choose(reader, save(tensors, metadata_of(content)))
    notice(reader, "projection.bias holds NaN or infinity: the training went astray")
    assert reader.translation == "the woman calls the old man."


def test_a_file_of_200_megabytes_is_not_even_read(read, write_page, tmp_path):
    path = tmp_path / "large.safetensors"
    with path.open("wb") as file:
        file.truncate(200_000_000)
    reader = read()
    reader.open(write_page("own", "", "own"))
    reader.page.locator("input[type=file]").set_input_files(path)
    notice(reader, "The file has 200 MB; this page reads up to 64 MB")


@pytest.mark.slow
def test_a_model_of_multi30k_s_size_never_freezes_the_page(read, write_page, tmp_path):
    sizes = (7853, 5893)
    words = [
        Vocabulary([*SPECIAL_TOKENS, *(f"w{i}" for i in range(n - 4))]) for n in sizes
    ]
    path: Path = tmp_path / "large.safetensors"
    model = Transformer(TransformerConfig.tutorial())
    size = save_page_file(model, (words[0], words[1]), path)
    assert size < 20e6
    reader = read()
    reader.open(write_page("own", "", "own beam", k=5))
    reader.page.evaluate(FRAMES)
    reader.page.locator("input[type=file]").set_input_files(path)
    notice(reader, r"9,038,341 parameters, 3 layers")
    reader.type("w1 w2 w3 w4 w5")
    busy = reader.page.locator(".live-translator[aria-busy]")
    busy.wait_for(state="detached")
    assert reader.words("keys") == ["<sos>", "w1", "w2", "w3", "w4", "w5", "<eos>"]
    assert reader.page.evaluate("window.longest") < 2000  # only a busy machine
    assert reader.faults == []
