"""Chromium without a window: where it is and how it is started."""

import shutil

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def find_chromium() -> str | None:
    """Locate Chromium; None where it is not installed."""
    return shutil.which("chromium") or shutil.which("chromium-browser")
