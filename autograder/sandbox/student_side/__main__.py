"""Start the pre-warmed parent with only the files of this folder.

The package is loaded by its path and under another name, so that the process never
imports `autograder`.
"""

import gc
import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def load_package() -> None:
    """Load this folder as the package `student_side`."""
    spec = importlib.util.spec_from_file_location(
        "student_side", HERE / "__init__.py", submodule_search_locations=[str(HERE)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{HERE} cannot be loaded as a package")
    package = importlib.util.module_from_spec(spec)
    sys.modules["student_side"] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    gc.disable()  # until all imports are done
    load_package()
    importlib.import_module("student_side.fork_server").main()
