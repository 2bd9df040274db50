"""Check training on a user's own files, from text to text."""

import gzip
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from command_line import assert_one_line_error, losses, run

from transformer.training.checkpoints import load_checkpoint

KOREAN = Path(__file__).parent / "own_files" / "korean_english"
SMALL = ["--config", "tiny", "--subwords", 600, "--device", "cpu"]
SHORT = [*SMALL, "--epochs", 2, "--epoch-steps", 2]


def files(folder: Path = KOREAN) -> list:
    sides = {part: [folder / f"{part}.{s}" for s in ("ko", "en")] for part in PARTS}
    train = ["--data", "files", "--src", sides["train"][0], "--tgt", sides["train"][1]]
    return [*train, "--valid", *sides["valid"], "--test", *sides["test"]]


PARTS = ("train", "valid", "test")


@pytest.fixture(scope="module")
def short_run(tmp_path_factory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("runs") / "korean"
    return folder, run("train", *files(), *SHORT, "--out", folder)


@pytest.mark.integration
def test_train_says_what_it_read(short_run):
    folder, output = short_run
    assert "files: 160 / 20 / 20 pairs, 600 subwords that both sides share" in output
    assert "epoch   2 | training loss" in output
    names = {path.name for path in folder.iterdir()}
    assert names == {"best.pt", "last.pt", "sentences"}


def test_one_matrix_serves_source_target_and_projection(short_run):
    model = load_checkpoint(short_run[0] / "best.pt").build_model()
    assert model.config.tie == "all"
    weight = model.projection.weight
    assert model.src_embedding.tokens.table.weight is weight
    assert model.tgt_embedding.tokens.table.weight is weight


def test_the_run_needs_no_other_file(short_run, tmp_path):
    shutil.copy(short_run[0] / "best.pt", tmp_path)
    output = run("translate", "그 여자는 책을 읽었다.", "--out", tmp_path)
    assert len(output.splitlines()) == 1
    words = load_checkpoint(tmp_path / "best.pt").vocabularies()
    sentence = "처음 보는 낱말입니다! 😀"
    assert words[0].join(words[0].split(sentence, "ko")) == sentence


@pytest.mark.integration
def test_evaluate_takes_the_kept_sentences_or_files(short_run):
    data = ["--data", "files", "--device", "cpu", "--out", short_run[0]]
    kept = run("evaluate", *data)
    assert "test: 20 sentences" in kept
    assert "per target subword" in kept
    assert "sacreBLEU on text, nrefs:1|case:mixed" in kept
    assert "chrF on text, nrefs:1" in kept
    sides = ["--src", KOREAN / "test.ko", "--tgt", KOREAN / "test.en"]
    named = run("evaluate", *data, *sides)
    assert kept.splitlines()[1:] == named.splitlines()[1:]
    assert "valid: 20 sentences" in run("evaluate", *data, "--split", "valid")


@pytest.mark.integration
def test_resume_goes_on_without_the_files_and_with_them(short_run, tmp_path):
    copied = tmp_path / "files"
    shutil.copytree(KOREAN, copied)
    run("train", *files(copied), *SHORT, "--epochs", 1, "--out", tmp_path / "run")
    run("train", *files(copied), *SHORT, "--resume", "--out", tmp_path / "run")
    assert losses(tmp_path / "run") == losses(short_run[0])
    shutil.rmtree(copied)
    more = ["--epochs", 3, "--resume", "--out", tmp_path / "run"]
    output = run("train", "--data", "files", *SHORT, *more)
    assert "going on after epoch 2" in output
    output = run("train", *files(copied), *SHORT, *more, expect=2)
    assert_one_line_error(output, "begun with another file than", "train.ko")


@pytest.mark.integration
def test_compressed_files_give_the_same_run(short_run, tmp_path):
    for part in PARTS:
        for side in ("ko", "en"):
            content = (KOREAN / f"{part}.{side}").read_bytes()
            (tmp_path / f"{part}.{side}").write_bytes(gzip.compress(content))
    run("train", *files(tmp_path), *SHORT, "--out", tmp_path / "run")
    assert losses(tmp_path / "run") == losses(short_run[0])


def test_a_page_is_refused(short_run):
    output = run("page", short_run[0], expect=2)
    assert_one_line_error(output, "splits sentences into whole words", "subwords")


@pytest.mark.parametrize("name", ["train.ko", "train.en", "valid.ko", "test.en"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content + b"\n",
        lambda content: b"zw\xf6lf\n" + content,
        lambda content: content[: len(content) // 2],
        lambda content: b"",
        lambda content: content.replace(b"\n", b" ja" * 10_000 + b"\n", 1),
        lambda content: gzip.compress(content)[:-12],
    ],
    ids=["empty-line", "latin-1", "shorter", "empty", "10,000-words", "cut-gzip"],
)
def test_bad_files_leave_nothing(tmp_path, name, damage):
    shutil.copytree(KOREAN, tmp_path / "files")
    path = tmp_path / "files" / name
    path.write_bytes(damage(path.read_bytes()))
    out = tmp_path / "run"
    output = run("train", *files(path.parent), *SHORT, "--out", out, expect=2)
    assert_one_line_error(output, name)
    assert not out.exists()


def test_missing_files_and_folders(tmp_path):
    arguments = files(tmp_path / "none")
    output = run("train", *arguments, "--out", tmp_path / "run", expect=2)
    assert_one_line_error(output, "train.ko", "there is none")
    arguments[3] = KOREAN
    output = run("train", *arguments, "--out", tmp_path / "run", expect=2)
    assert_one_line_error(output, "korean_english", "it is a folder")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("place", [5, 8, 11])
def test_a_file_that_is_named_twice(tmp_path, place):
    arguments = files()
    arguments[place] = arguments[3]  # the sources of the training split
    output = run("train", *arguments, *SHORT, "--out", tmp_path / "run", expect=2)
    assert_one_line_error(output, "train.ko is named twice")
    assert not list(tmp_path.iterdir())


def test_evaluate_refuses_one_file_for_both_sides(short_run):
    sides = ["--src", KOREAN / "test.ko", "--tgt", KOREAN / "test.ko"]
    data = ["--data", "files", "--out", short_run[0]]
    output = run("evaluate", *data, *sides, expect=2)
    assert_one_line_error(output, "test.ko is named twice")


def test_a_folder_that_cannot_be_written_is_told_before_all_is_read(
    tmp_path, monkeypatch
):
    (tmp_path / "file").touch()
    output = run("train", *files(), "--out", tmp_path / "file" / "run", expect=2)
    assert_one_line_error(output, "--out is to be a folder", "file is a file")

    def refuse(**_):
        raise PermissionError(13, "Permission denied", str(tmp_path))

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    output = run("train", *files(), "--out", tmp_path / "a" / "run", expect=2)
    refused = ("--out cannot be written", "a/run (Permission denied)")
    assert_one_line_error(output, *refused)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_what_the_system_refuses_is_told_in_words(tmp_path, monkeypatch):
    def refuse(path, *_):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)
    output = run("train", *files(), *SHORT, "--out", tmp_path / "run", expect=2)
    assert_one_line_error(output, "Error: ", "train.ko: Permission denied")
    assert not (tmp_path / "run").exists()


def test_options_that_do_not_go_together(tmp_path, short_run):
    out = ["--out", tmp_path]
    output = run("train", "--data", "files", "--src", "a", *out, expect=2)
    assert_one_line_error(output, "--tgt and --valid SRC TGT missing")
    output = run("train", "--src", "a", *out, expect=2)
    assert_one_line_error(output, "go with --data files")
    data = ["--data", "files", "--out", short_run[0]]
    output = run("evaluate", *data, "--src", KOREAN / "test.ko", expect=2)
    assert_one_line_error(output, "--src and --tgt go together")
    output = run("evaluate", *data, "--split", "train2", expect=2)
    assert_one_line_error(output, "no sentences to train2")
    output = run("evaluate", "--out", short_run[0], expect=2)
    assert_one_line_error(output, "was trained on text files: give --data files")
    output = run("train", *files(), *SMALL[:2], "--subwords", 0, *out, expect=2)
    assert_one_line_error(output, "from 300 to 65536 subwords, found 0")
    output = run("train", *files(), *SMALL[:2], "--subwords", 300, *out, expect=2)
    assert_one_line_error(output, "subwords, to hold every letter", "found 300")
    assert not list(tmp_path.iterdir())


@pytest.mark.integration
def test_too_long_for_the_model_is_left_out_of_training_only(tmp_path):
    shutil.copytree(KOREAN, tmp_path / "files")
    long = {"ko": "아주 " * 80 + "길다.", "en": "It is " + "very " * 80 + "long."}
    for part in ("train", "test"):
        for side, text in long.items():
            with (tmp_path / "files" / f"{part}.{side}").open("a") as file:
                file.write(text + "\n")
        out = ["--out", tmp_path / f"run_{part}"]
        if part == "train":
            output = run("train", *files(tmp_path / "files"), *SHORT, *out)
            told = "train: left out as too long for the model: 1 of the pairs, that of"
            assert f"{told} line 161 first" in output
            assert "files: 160 / 20 / 20 pairs" in output
    output = run("train", *files(tmp_path / "files"), *SHORT, *out, expect=2)
    assert_one_line_error(output, "test.ko", "line 21", "at most 62 subwords")
    assert not list(Path(out[1]).iterdir())


@pytest.mark.integration
def test_a_full_disk_leaves_no_half_of_the_sentences(tmp_path):
    with_limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000,)*2)"
    code = f"import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); {with_limit}"
    code += "; from transformer.cli.app import app; app()"
    command = [sys.executable, "-c", code, "train", *files(), *SHORT, "--out"]
    done = subprocess.run(
        [*map(str, command), str(tmp_path / "run")], capture_output=True, text=True
    )
    assert done.returncode == 2, done.stderr
    assert_one_line_error(done.stderr, "File too large")
    assert not list((tmp_path / "run").iterdir())


@pytest.mark.integration
def test_a_run_on_another_corpus_is_not_resumed_with_files(tmp_path):
    short = ["--epochs", 1, "--epoch-steps", 1, "--device", "cpu", "--out", tmp_path]
    run("train", *short)
    output = run("train", *files(), *short, "--resume", expect=2)
    assert_one_line_error(output, "holds no sentences: it was trained on other data")


@pytest.mark.integration
def test_recurrent_models_read_files_too(tmp_path):
    sizes = ["--model", "attention", *SHORT, "--out", tmp_path]
    assert "attention, tiny: " in run("train", *files(), *sizes)
    output = run("evaluate", "--data", "files", "--out", tmp_path)
    assert "test: 20 sentences" in output
