"""A real headless browser for tests: Debian's chromium through playwright, without a network; and axe, which npm brings.

Where one of them is absent a test says so and is not executed. `make browser` and `.ci/run` bring all three.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
AXE = Path(os.environ.get("TIEPOINT_AXE", ROOT / ".venv" / "axe" / "package" / "axe.min.js"))
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SERIOUS = ("serious", "critical")


@contextmanager
def browser() -> Iterator[Any]:
    """A running chromium; skips with the reason where there is none."""
    if CHROMIUM is None:
        pytest.skip("not executed: chromium is not installed (apt-get install chromium fonts-dejavu-core)")
    if find_spec("playwright") is None:
        pytest.skip("not executed: playwright is not installed (pip install 'tiepoint[browser]')")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--enable-unsafe-swiftshader"]
        )
        yield opened
        opened.close()


@contextmanager
def opened(chromium: Any, path: Path, **context: Any) -> Iterator[Any]:
    """A page from disk, offline. Fails where it asks for anything but itself, or says anything on its console."""
    held = chromium.new_context(offline=True, **context)
    page = held.new_page()
    requests: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(path.as_uri())
    yield page
    assert requests == [path.as_uri()]
    assert said == []
    held.close()


def serious_findings(page: Any) -> list[str]:
    """What axe calls serious or critical on the page as it stands. Skips where axe is not there."""
    if not AXE.is_file():
        pytest.skip(
            "not executed: axe is not there (make browser brings it from npm, or TIEPOINT_AXE names axe.min.js)"
        )
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
    return [
        f"{violation['id']} ({violation['impact']}): {node['html'][:160]} {node['failureSummary'][:300]}"
        for violation in found["violations"]
        if violation["impact"] in SERIOUS
        for node in violation["nodes"][:3]
    ]
