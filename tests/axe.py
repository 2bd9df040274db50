"""axe-core, which finds barriers in a page, and npm, which installs it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from filelock import FileLock

TESTS = Path(__file__).resolve().parent
PACKAGES = TESTS / "book" / "live"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN = """async ({ tags, judged, within }) => {
  const transparent = "rgba(0, 0, 0, 0)";
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const colour = getComputedStyle(element).backgroundColor;
      if (colour !== transparent) return colour;
    }
    return "";
  };
  const known = new Set(judged);
  for (const code of document.querySelectorAll(".highlight pre")) {
    const place = behind(code);
    const looks = [...code.querySelectorAll("*")].map((word) => {
      const { color, backgroundColor, fontSize, fontWeight } = getComputedStyle(word);
      return [color, backgroundColor, fontSize, fontWeight, place].join(" ");
    });
    code.classList.toggle("judged", looks.every((look) => known.has(look)));
    looks.forEach((look) => known.add(look));
  }
  const found = async (context, options) =>
    (await axe.run(context, { ...options, resultTypes: ["violations"] })).violations;
  const rules = Object.fromEntries([
    ["label-content-name-mismatch", { enabled: true }],
    ["target-size", { enabled: true }],
    ["color-contrast", { enabled: false }],
  ]);
  const tagged = { runOnly: { type: "tag", values: tags }, rules };
  const contrast = { runOnly: { type: "rule", values: ["color-contrast"] } };
  const violations = [
    ...await found({ include: [within] }, tagged),
    ...await found({ include: [within], exclude: [".judged"] }, contrast),
  ];
  const barriers = violations.map(({ id, nodes }) => {
    const where = nodes.slice(0, 3).map((node) => node.html.slice(0, 150));
    return `${id}, ${nodes.length} times: ${where.join(" ")}`;
  });
  return { barriers, judged: [...known] };
}"""


def packages_of_npm() -> Path:
    """Return the folder of the packages in `package.json`, installed once.

    Without a network, the test that calls this function is skipped. In CI, it fails.
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


def barriers(
    page: object, judged: set[str] | None = None, within: str = "html"
) -> list[str]:
    """Return axe-core's findings on the open page, one sentence for each rule.

    Most words of a chapter are code, in a dozen colours. The set `judged` records the
    looks of code. The contrast of words with the same look is not checked again, on
    this page or on later pages with the same set. Elements outside the selector
    `within` belong to other software.
    """
    rules = packages_of_npm() / "axe-core" / "axe.min.js"
    page.evaluate(f"() => {{ {rules.read_text('utf-8')} }}")
    judged = set() if judged is None else judged
    found = page.evaluate(
        RUN, {"tags": TAGS, "judged": sorted(judged), "within": within}
    )
    judged.update(found["judged"])
    return found["barriers"]
