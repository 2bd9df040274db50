"""Archives in the format of learning platforms, and notebooks in Colab's format."""

import io
import json
import zipfile
from pathlib import Path

UNIT = "01_tiny"
NOON = (2026, 11, 2, 12, 0, 0)


def answered(notebook: bytes, answers: dict[str, str]) -> bytes:
    """Return a notebook with new sources in its cells, by `grade_id`."""
    raw = json.loads(notebook)
    for cell in raw["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if name in answers:
            cell["source"] = answers[name].splitlines(keepends=True)
    return json.dumps(raw, indent=1).encode()


def as_colab_saves(notebook: bytes | str) -> bytes:
    """Return a notebook with the metadata, ids and layout that Colab writes.

    Colab writes format 4.0 without cell ids. Each cell's metadata contains Colab's own
    ids, and also the user and time of the last run, and the place of the output.
    """
    raw = json.loads(notebook)
    for number, cell in enumerate(raw["cells"]):
        cell.pop("id", None)
        cell["metadata"] |= {"id": f"aB3_{number:08x}"}
        if cell["cell_type"] == "code":
            person = {"displayName": "", "userId": "0"}
            cell["metadata"] |= {
                "colab": {"base_uri": "https://localhost:8080/"},
                "outputId": f"0f{number:034x}",
                "executionInfo": {
                    "status": "ok",
                    "timestamp": 1762084800000 + number,
                    "user_tz": -60,
                    "user": person,
                    "elapsed": 5,
                },
            }
            stream = {"output_type": "stream", "name": "stdout", "text": ["ran\n"]}
            cell["outputs"], cell["execution_count"] = [stream], number
    raw["metadata"] |= {
        "accelerator": "GPU",
        "colab": {"name": f"Copy of {UNIT}.ipynb", "provenance": [], "gpuType": "T4"},
        "kernelspec": {"display_name": "Python 3", "name": "python3"},
        "language_info": {"name": "python"},
    }
    raw |= {"nbformat": 4, "nbformat_minor": 0}
    return json.dumps(raw, ensure_ascii=False).encode()


def archive(path: Path, *files: tuple, link: str = "") -> Path:
    """Write a zip archive of (name, content) or (name, content, time)."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content, *when in files:
            info = zipfile.ZipInfo(name, *(when or [NOON]))
            info.compress_type = zipfile.ZIP_DEFLATED
            if name == link:
                info.external_attr = 0o120777 << 16
            made.writestr(info, content)
    return path


def zipped(name: str, content: bytes) -> bytes:
    """Return a zip archive with one file, as bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        made.writestr(name, content)
    return buffer.getvalue()
