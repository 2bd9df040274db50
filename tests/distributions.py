"""The dependencies of installed distributions, and their modules."""

from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import Requirement


def closure(names: tuple[str, ...]) -> set[str]:
    """Return distributions and all installed distributions that they need."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop().lower().replace("_", "-")
        if name in found:
            continue
        try:
            required = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue
        found.add(name)
        for line in required:
            requirement = Requirement(line)
            marker = requirement.marker
            if marker is None or marker.evaluate({"extra": ""}):
                waiting.append(requirement.name)
    return found


def modules_outside(names: tuple[str, ...]) -> set[str]:
    """Return the installed top-level modules that these distributions do not need.

    Modules of which setuptools contains its own copy are left out.
    """
    allowed = closure(names)
    copies = Path(find_spec("setuptools").origin).with_name("_vendor").glob("*")
    return {
        module
        for module, owners in metadata.packages_distributions().items()
        if not {owner.lower().replace("_", "-") for owner in owners} & allowed
    } - {path.name for path in copies}
