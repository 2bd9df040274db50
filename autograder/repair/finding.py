"""Find the notebook in a submission, even if it is renamed, zipped or in a folder."""

from pathlib import Path

MOST_OTHERS = 5  # maximum number of other notebooks that are read
# A browser may append a suffix. JSON files are used only if there is no other file.
ENDINGS = (".ipynb", (".ipynb.txt", ".ipynb.json"), ".zip", ".json")


def find_notebook(folder: Path, slug: str) -> Path:
    """Return the path of the notebook of unit `slug` in `folder`.

    This is the notebook with the unit's name. If it does not exist, it is the only
    notebook, or else the only archive, including subfolders. If there is no unique
    file, return the expected path. Reading that path then reports the reason.
    """
    expected = folder / f"{slug}.ipynb"
    if expected.is_file() or expected.is_symlink() or not folder.is_dir():
        return expected
    if folder.is_symlink():
        return expected
    there = sorted(path for path in folder.rglob("*") if _counts(path, folder))
    for endings in ENDINGS:
        fits = [path for path in there if path.name.lower().endswith(endings)]
        here = [path for path in fits if path.parent == folder]
        found = here or fits
        named = [path for path in found if slug in path.name.lower()]
        for candidates in (named, found):
            if len(candidates) == 1:
                return candidates[0]
    return expected


def other_notebooks(path: Path) -> list[Path]:
    """Return the notebooks next to a unit's own, such as `04_attention-Copy1.ipynb`.

    Because there may be thousands, only the most recent ones are returned, the most
    recent first.
    """
    folder = path.parent
    if path.name.lower().endswith(".zip") or folder.is_symlink() or not folder.is_dir():
        return []
    found = [
        one
        for one in folder.glob("*.[iI][pP][yY][nN][bB]")
        if one != path and _counts(one, folder)
    ]
    youngest = sorted(found, key=lambda one: (one.stat().st_mtime, one.name))
    return youngest[: -MOST_OTHERS - 1 : -1]


def _counts(path: Path, folder: Path) -> bool:
    parts = path.relative_to(folder).parts
    hidden = any(part.startswith(".") or part == "__MACOSX" for part in parts)
    return path.is_file() and not path.is_symlink() and not hidden
