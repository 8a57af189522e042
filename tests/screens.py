"""The README's screenshots of a report: `python tests/screens.py` makes them anew from the demonstration. Needs chromium."""

from __future__ import annotations

import tempfile
from pathlib import Path

import tiepoint as tp
from browser import browser, opened
from picture import demonstration

DOCS = Path(__file__).parents[1] / "docs"
VERDICT, QUERIES, PHONE = "report-verdict.png", "report-queries.png", "report-phone.png"


def take(report: Path, folder: Path) -> None:
    """Three pictures: the charts of cost, an opened query in the dark, and the first screen of a phone."""
    with browser() as chromium:
        with opened(chromium, report, viewport={"width": 1160, "height": 560}) as page:
            page.get_by_role("heading", name="Quality against cost").scroll_into_view_if_needed()
            page.evaluate("() => scrollTo(0, document.querySelector('#s2').getBoundingClientRect().top + scrollY - 12)")
            page.screenshot(path=folder / VERDICT)
        with opened(chromium, report, viewport={"width": 1160, "height": 760}, color_scheme="dark") as page:
            page.locator("#list tbody button").first.click()
            page.evaluate(
                "() => scrollTo(0, document.querySelector('.controls').getBoundingClientRect().top + scrollY - 12)"
            )
            page.screenshot(path=folder / QUERIES)
        with opened(chromium, report, viewport={"width": 390, "height": 760}) as page:
            page.screenshot(path=folder / PHONE)


def main() -> None:
    """Run the demonstration and take the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        demo = Path(folder) / "demo"
        demonstration(demo)
        (result,) = (demo / "results").iterdir()
        take(tp.write_report(result, with_text=demo), DOCS)


if __name__ == "__main__":
    main()
