"""Chromium for the tests that `need("chromium")`."""

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from guide_pictures.chromium import ARGUMENTS, find_chromium

__all__ = ["ARGUMENTS", "PATIENCE", "Browser", "browser", "find_chromium"]
PATIENCE = 300_000  # milliseconds: only hanging fails, not slowness


@dataclass
class Browser:
    """A page of Chromium that records every call of `steal()`.

    Attributes:
        page: playwright's page.
        stolen: the address of each page on which a student's script ran.
        outside: each refused request to an address outside this machine.
    """

    page: object
    stolen: list[str] = field(default_factory=list)
    outside: set[str] = field(default_factory=set)


@contextlib.contextmanager
def without_a_loop() -> Iterator[None]:
    """Hide the event loop of a browser that another fixture keeps open.

    Playwright's synchronous interface refuses to start if it finds a running loop.
    """
    before = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(before)


@contextlib.contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """Run Chromium with a new profile, and refuse requests to other machines."""
    from playwright.sync_api import sync_playwright

    with without_a_loop(), sync_playwright() as driver:
        context = driver.chromium.launch_persistent_context(
            str(profile),
            executable_path=find_chromium(),
            args=[*ARGUMENTS],
            timeout=PATIENCE,
        )
        context.set_default_timeout(PATIENCE)
        made = Browser(context.pages[0])

        def guard(route):
            if route.request.url.startswith(("http://127.0.0.1:", "file:", "data:")):
                route.continue_()
            else:
                made.outside.add(route.request.url)
                route.abort()

        context.expose_binding(
            "steal", lambda source: made.stolen.append(made.page.url)
        )
        context.route("**/*", guard)
        yield made
        context.close()
