"""Check the command line with the recurrent models."""

from pathlib import Path

import pytest
from command_line import SHORT, assert_one_line_error, losses, run

RECURRENT = pytest.mark.parametrize("model", ["attention", "seq2seq"])


@pytest.fixture(scope="module")
def recurrent_runs(tmp_path_factory) -> dict[str, Path]:
    """Train the recurrent models for a moment, and return the folder of each."""
    folders = {model: tmp_path_factory.mktemp(model) for model in RECURRENT.args[1]}
    for model, folder in folders.items():
        output = run(*SHORT, "--model", model, "--out", folder)
        assert f"{model}, tiny: " in output
    return folders


@pytest.mark.integration
@RECURRENT
def test_recurrent_run_is_evaluated_and_translates(recurrent_runs, model, tmp_path):
    at = ["--out", recurrent_runs[model], "--max-len", 4, "--device", "cpu"]
    assert "test: 1,000 sentences" in run("evaluate", *at)
    sentence = ["translate", "Die Frau singt.", *at]
    assert len(run(*sentence).strip().splitlines()) == 1
    image = tmp_path / "look.png"
    if model == "attention":
        run(*sentence, "--attention", image)
        assert image.read_bytes().startswith(b"\x89PNG")
    else:
        output = run(*sentence, "--attention", image, expect=2)
        assert_one_line_error(output, "--attention", "seq2seq looks at nothing")
        assert not image.exists()


@pytest.mark.integration
@RECURRENT
def test_recurrent_run_resumes_to_the_same_losses(recurrent_runs, model, tmp_path):
    chosen = [*SHORT, "--model", model, "--out", tmp_path]
    run(*chosen, "--epochs", 1)
    run(*chosen, "--resume")
    assert losses(tmp_path) == losses(recurrent_runs[model])


@RECURRENT
@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--fused"], ["--fused", "Transformer alone"]),
        (["--compile"], ["--compile", "Transformer alone"]),
        (["--config", "tutorial"], ["no configuration tutorial", "tiny or best"]),
    ],
    ids=["fused", "compile", "tutorial"],
)
def test_options_of_the_transformer_are_refused(tmp_path, model, arguments, parts):
    output = run("train", "--model", model, *arguments, "--out", tmp_path, expect=2)
    assert_one_line_error(output, model, *parts)
    assert not list(tmp_path.iterdir())


def test_resume_with_another_model_names_it(recurrent_runs):
    at = ["--resume", "--model", "attention", "--out", recurrent_runs["seq2seq"]]
    output = run(*SHORT, *at, expect=2)
    assert "model='seq2seq' there and model='attention' here" in output
