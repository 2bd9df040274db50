"""Check the command line from a user's view: its output, its refusals, its files."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from command_line import SHORT, assert_one_line_error, losses, run

from transformer.data import make_grammar_corpus
from transformer.training.checkpoints import load_checkpoint

MULTI30K = Path(__file__).resolve().parents[3] / "shared" / "multi30k"
PATIENCE = 600  # seconds: only hanging fails, not slowness


@pytest.fixture(scope="module")
def short_run(tmp_path_factory) -> tuple[Path, str]:
    """Train for a moment, and return the folder and the printed output."""
    folder = tmp_path_factory.mktemp("run")
    return folder, run(*SHORT, "--out", folder)


@pytest.fixture
def folder(short_run) -> Path:
    """Return the folder with the checkpoints of the short run."""
    return short_run[0]


@pytest.mark.integration
def test_train_reports_every_epoch(short_run):
    folder, output = short_run
    assert "grammar: 20,000 / 1,000 / 1,000 pairs" in output
    assert "parameters on cpu" in output
    for number in (1, 2):
        assert f"epoch   {number} | training loss" in output
    assert "perplexity" in output
    assert "tokens/s" in output
    assert {path.name for path in folder.iterdir()} == {"last.pt", "best.pt"}


@pytest.mark.integration
def test_resume_continues_to_the_same_losses(tmp_path, folder):
    run(*SHORT, "--epochs", 1, "--out", tmp_path)
    output = run(*SHORT, "--resume", "--out", tmp_path)
    assert "going on after epoch 1" in output
    assert losses(tmp_path) == losses(folder)


@pytest.mark.integration
def test_evaluate_states_each_convention(folder):
    output = run("evaluate", "--out", folder, "--max-len", 5, "--device", "cpu")
    assert "test: 1,000 sentences" in output
    assert "exp of the mean cross-entropy" in output
    assert "torchtext corpus BLEU × 100, lower-cased tokens, last token cut" in output
    assert "sacreBLEU on detokenised lower-cased text, nrefs:1|case:mixed" in output
    assert "chrF on detokenised lower-cased text, nrefs:1|case:mixed" in output
    assert output.count("(greedy;") == 3


@pytest.mark.integration
def test_evaluate_without_torchtext_says_how_to_install_it(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "torchtext", None)
    output = run("evaluate", "--out", folder, "--max-len", 5, "--device", "cpu")
    assert "pip install torchtext==0.6.0" in output
    assert output.count("(greedy;") == 2


@pytest.mark.integration
def test_translate_prints_a_sentence_and_draws_the_heads(folder, tmp_path):
    image = tmp_path / "heads.png"
    output = run("translate", "Die Frau singt.", "--out", folder, "--attention", image)
    assert len(output.strip().splitlines()) == 1
    assert image.read_bytes().startswith(b"\x89PNG")


def test_page_writes_the_model_into_one_file(folder, tmp_path):
    output = run("page", folder, "--to", tmp_path / "mine.safetensors")
    assert "mine.safetensors: 1.7 MB" in output
    assert b"src_vocab_size" in (tmp_path / "mine.safetensors").read_bytes()
    run("page", folder)
    assert (folder / "page.safetensors").exists()
    (folder / "page.safetensors").unlink()
    assert_one_line_error(run("page", tmp_path, expect=2), "there is no checkpoint")


def test_new_run_does_not_overwrite_an_old_one(folder):
    before = {path: path.read_bytes() for path in folder.iterdir()}
    output = run(*SHORT, "--out", folder, expect=2)
    assert_one_line_error(output, str(folder), "--resume", "--out")
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["train", "--device", "abacus"], ["'abacus'"]),
        (["train", "--epochs", "0"], ["epochs", "found 0"]),
        (["train", "--threads", "0"], ["thread", "found 0"]),
        (["train", "--resume"], ["there is no checkpoint"]),
        (["train", "--data", "multi30k", "--data-dir", "nowhere"], ["nowhere"]),
        (["evaluate"], ["there is no checkpoint", "best.pt"]),
        (["translate", "Hallo."], ["there is no checkpoint", "best.pt"]),
        (["translate", "Hallo.", "--beam-size", "0"], ["beam_size >= 1", "found 0"]),
    ],
    ids=lambda value: "-".join(value) if len(value) != 1 else value[0],
)
def test_errors_are_one_line(tmp_path, arguments, parts):
    assert_one_line_error(run(*arguments, "--out", tmp_path, expect=2), *parts)
    assert not list(tmp_path.iterdir())


def test_a_run_that_keeps_no_average_says_so(folder):
    for command in (["evaluate"], ["translate", "Hallo."]):
        output = run(*command, "--weights", "averaged", "--out", folder, expect=2)
        assert_one_line_error(output, str(folder), "no average", "--weights best")


def test_ctrl_c_while_pytorch_is_imported_shows_no_traceback():
    stop = "class Stop:\n    def find_spec(name, *_):\n"
    stop += "        if name == 'torch': raise KeyboardInterrupt\n"
    code = f"import runpy, sys\n{stop}sys.meta_path.insert(0, Stop)\n"
    code += "runpy.run_module('transformer', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_sentences_that_cannot_be_translated(folder):
    output = run("translate", " ", "--out", folder, expect=2)
    assert_one_line_error(output, "at least one word")
    output = run("translate", "kuh " * 70, "--out", folder, expect=2)
    assert_one_line_error(output, "72 tokens", "positions for 64")


def test_attention_into_no_image_format(folder, tmp_path):
    arguments = ["translate", "Die Frau singt.", "--out", folder, "--attention"]
    output = run(*arguments, tmp_path / "heads.xyz", expect=2)
    assert "Error: cannot draw into" in output


def test_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("kept")
    output = run(*SHORT, "--out", tmp_path / "file", expect=2)
    assert_one_line_error(output, "--out", "file is a file")
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.slow
def test_batch_size_counts_pairs_in_every_preset(tmp_path):
    sizes = ["--config", "best", "--batch-size", 2, "--epochs", 1, "--epoch-steps", 1]
    run("train", *sizes, "--device", "cpu", "--out", tmp_path)
    training = load_checkpoint(tmp_path / "last.pt").training_config
    assert (training["batch_size"], training["batch_tokens"]) == (2, None)


def test_resume_with_another_model_names_it(folder):
    output = run(*SHORT, "--resume", "--model", "attention", "--out", folder, expect=2)
    assert "model='transformer' there and model='attention' here" in output


@pytest.mark.integration
@pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGINT of this kind")
def test_stop_in_the_first_epoch_promises_nothing(tmp_path):
    steps = ["train", "--device", "cpu", "--out", tmp_path / "new"]
    with started(*steps) as process:
        wait_for(tmp_path / "new", process)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        output = process.communicate(timeout=PATIENCE)[0].decode()
    assert process.returncode == 130, output
    assert "nothing is kept" in output and "--resume" not in output


@pytest.mark.integration
def test_resume_with_another_configuration_names_it(folder):
    output = run(*SHORT, "--resume", "--batch-size", 9, "--out", folder, expect=2)
    assert "batch_size=64 there and batch_size=9 here" in output


def test_damaged_checkpoint_is_one_line(folder, tmp_path):
    (tmp_path / "best.pt").write_bytes((folder / "best.pt").read_bytes()[:5000])
    output = run("translate", "Hallo.", "--out", tmp_path, expect=2)
    assert_one_line_error(output, "best.pt", "damaged")


@contextlib.contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen]:
    """Run the command in its own process, as a user does, with a time limit."""
    command = [sys.executable, "-m", "transformer", *map(str, arguments)]
    said = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, **said) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(path: Path, process: subprocess.Popen) -> None:
    end = time.monotonic() + PATIENCE
    while not path.exists():
        assert process.poll() is None, process.stdout.read().decode()
        assert time.monotonic() < end, f"{path} did not appear"
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGINT of this kind")
def test_stopped_run_resumes_to_the_same_losses(tmp_path):
    """The run would take hours, so it cannot have ended before the signal comes."""
    steps = ["train", "--epoch-steps", 8, "--device", "cpu", "--out"]
    with started(*steps, tmp_path / "stopped", "--epochs", 10_000) as process:
        wait_for(tmp_path / "stopped" / "last.pt", process)
        process.send_signal(signal.SIGINT)
        output = process.communicate(timeout=PATIENCE)[0].decode()
    assert process.returncode == 130, output
    assert "go on with --resume" in output
    reached = load_checkpoint(tmp_path / "stopped" / "last.pt").epoch
    epochs = ["--epochs", reached + 2]
    run(*steps, tmp_path / "stopped", "--resume", *epochs)
    run(*steps, tmp_path / "whole", *epochs)
    assert losses(tmp_path / "stopped") == losses(tmp_path / "whole")


@pytest.mark.slow
@pytest.mark.skipif(not MULTI30K.is_dir(), reason="Multi30k is not beside the course")
def test_multi30k_trains_evaluates_and_translates(tmp_path):
    data = ["--data", "multi30k", "--data-dir", MULTI30K]
    steps = ["--epochs", 1, "--epoch-steps", 2, "--out", tmp_path]
    output = run("train", *data, "--config", "tutorial", *steps)
    assert "7,853 and 5,893 words" in output
    assert "9,038,341 parameters" in output
    output = run("evaluate", *data, "--max-len", 2, "--out", tmp_path)
    assert "test: 1,000 sentences" in output
    run("translate", "Ein Mann schläft.", "--out", tmp_path)
    look_back = ["--model", "attention", *steps[:-1], tmp_path / "recurrent"]
    assert "attention, best: " in run("train", *data, *look_back)
    output = run("evaluate", "--out", tmp_path, expect=2)
    assert "trained on other data: its source vocabulary has 7853 words" in output


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_cuda_is_used_where_there_is_one(tmp_path):
    output = run(*SHORT[:-2], "--out", tmp_path)
    assert "parameters on cuda" in output
    run("evaluate", "--out", tmp_path, "--max-len", 5)
    sentence = " ".join(make_grammar_corpus().test[0].src)
    on_gpu = run("translate", sentence, "--out", tmp_path)
    assert run("translate", sentence, "--out", tmp_path, "--device", "cpu") == on_gpu
