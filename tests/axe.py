"""axe-core, which tells what in a page shuts someone out; and npm, where it is from."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from filelock import FileLock

TESTS = Path(__file__).resolve().parent
PACKAGES = TESTS / "book" / "live"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN = """async (values) => {
  const more = ["label-content-name-mismatch", "target-size"];
  const rules = Object.fromEntries(more.map((name) => [name, { enabled: true }]));
  const runOnly = { type: "tag", values };
  const options = { runOnly, rules, resultTypes: ["violations"] };
  const { violations } = await axe.run(document, options);
  return violations.map(({ id, nodes }) => {
    const where = nodes.slice(0, 3).map((node) => node.html.slice(0, 150));
    return `${id}, ${nodes.length} times: ${where.join(" ")}`;
  });
}"""


def packages_of_npm() -> Path:
    """Return the folder of the packages that `package.json` names, installed once.

    Without a network the test that asks is skipped; in CI it fails.
    """
    modules = PACKAGES / "node_modules"
    lock = TESTS.parent / "build" / "packages-of-npm.lock"
    lock.parent.mkdir(exist_ok=True)
    with FileLock(lock):
        wanted = (PACKAGES / "package-lock.json").read_bytes()
        done = modules / "installed.json"
        if not done.is_file() or done.read_bytes() != wanted:
            program = shutil.which("npm") or "npm"
            command = [program, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
            try:
                subprocess.run(command, cwd=PACKAGES, check=True, capture_output=True)
            except (OSError, subprocess.CalledProcessError) as error:
                if os.environ.get("CI"):
                    raise
                pytest.skip(f"npm could not fetch {PACKAGES.name}'s packages: {error}")
            done.write_bytes(wanted)
    return modules


def barriers(page: object) -> list[str]:
    """Return what axe-core finds in the page that is open, each rule a sentence."""
    rules = packages_of_npm() / "axe-core" / "axe.min.js"
    page.evaluate(f"() => {{ {rules.read_text('utf-8')} }}")
    return page.evaluate(RUN, TAGS)
