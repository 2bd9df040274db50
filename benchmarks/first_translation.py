"""Measure the time from opening the front page until its first translation appears.

    python benchmarks/first_translation.py [LOADS]

Chromium opens the built book from the disk, each time as if for the first time.
Milliseconds of wall-clock time are printed, so run nothing else meanwhile.
"""

import statistics
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

PAGE = Path(__file__).parents[1] / "book" / "_build" / "html" / "index.html"
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
WATCH = """
const ready = ".live-translator[data-ready]";
const see = () => {
  if (document.querySelector(ready)) window.first ??= performance.now();
};
const how = { subtree: true, childList: true, attributeFilter: ["data-ready"] };
new MutationObserver(see).observe(document, how);
"""


def milliseconds(browser: object) -> float:
    """Open the page in a new browser context; return the time until it translates."""
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(PAGE.as_uri())
    page.wait_for_function("window.first > 0")
    found = page.evaluate("window.first")
    context.close()
    return found


def main() -> None:
    """Read the number of loads from the command line, measure, and print the times."""
    loads = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=OPTIONS
        )
        times = sorted(milliseconds(browser) for _ in range(loads))
        browser.close()
    print(f"{loads} loads: median {statistics.median(times):.0f} ms,", end=" ")
    print(f"from {times[0]:.0f} to {times[-1]:.0f}")


if __name__ == "__main__":
    main()
