"""Check subwords on a corpus of the course: Multi30k's files, here from the grammar."""

from pathlib import Path

import pytest
from command_line import assert_one_line_error, run

from transformer.data import detokenize, make_grammar_corpus
from transformer.training.checkpoints import load_checkpoint

ROOT = Path(__file__).resolve().parents[2]
PARTS = {"train": 400, "val": 30, "test_2016_flickr": 20, "test_2017_flickr": 10}


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> list:
    """Write four parts under the names of Multi30k's files, in upper and lower case."""
    folder, start = tmp_path_factory.mktemp("multi30k"), 0
    pairs = make_grammar_corpus().train
    for part, count in PARTS.items():
        some, start = pairs[start : start + count], start + count
        for language, side in (("de", "src"), ("en", "tgt")):
            lines = [detokenize(getattr(pair, side)).capitalize() for pair in some]
            text = "".join(f"{line}\n" for line in lines)
            (folder / f"{part}.{language}").write_text(text, encoding="utf-8")
    return ["--data", "multi30k", "--data-dir", folder]


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("run")
    sizes = ["--config", "subword", "--subwords", 500, "--device", "cpu"]
    short = ["--epochs", 2, "--epoch-steps", 1]
    return folder, run("train", *data, *sizes, *short, "--out", folder)


@pytest.mark.integration
def test_subwords_are_learned_from_the_training_part(trained):
    folder, output = trained
    assert "multi30k: 400 / 30 / 20 pairs, 500 subwords that both sides share" in output
    checkpoint = load_checkpoint(folder / "best.pt")
    assert checkpoint.model_config["tie"] == "all"
    assert checkpoint.model_config["max_len"] == 256
    words, _ = checkpoint.vocabularies()
    assert words.split("Die FRAU", "de") == words.split("die frau", "de")


def test_evaluate_measures_any_test_set(data, trained):
    out = ["--device", "cpu", "--max-len", 5, "--out", trained[0]]
    output = run("evaluate", *data, *out, "--split", "test_2017_flickr")
    assert "multi30k, test_2017_flickr: 10 sentences" in output
    assert "torchtext corpus BLEU × 100, lower-cased tokens" in output
    assert "sacreBLEU on lower-cased text, nrefs:1" in output
    assert "chrF on lower-cased text, nrefs:1" in output
    assert "test: 20 sentences" in run("evaluate", *data, *out)
    output = run("evaluate", *data, *out, "--split", "test_2018_flickr", expect=2)
    assert_one_line_error(output, "expected test_2018_flickr.de.gz", "put another")


def test_whole_words_are_measured_on_any_test_set_too(data, tmp_path):
    short = ["--config", "tiny", "--epochs", 1, "--epoch-steps", 1, "--device", "cpu"]
    run("train", *data, *short, "--out", tmp_path)
    out = ["--device", "cpu", "--max-len", 5, "--out", tmp_path]
    output = run("evaluate", *data, *out, "--split", "test_2017_flickr")
    assert "test_2017_flickr: 10 sentences" in output
    output = run("evaluate", "--data", "files", *out, expect=2)
    assert_one_line_error(output, "knows the words of a corpus and reads no files")
