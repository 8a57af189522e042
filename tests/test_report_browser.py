"""The report in a real browser: from disk without a network, sorted, filtered, opened, printed, looked at by axe."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import tiepoint as tp
from audited import recorded_audit
from browser import browser, opened, serious_findings
from hostile import NAMES, hostile
from sample import hashing, write_sample
from tiepoint.workflows.report.files import written
from wide import wide

pytestmark = pytest.mark.browser
PHONE = {"viewport": {"width": 390, "height": 844}}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recorded result for readers in planning, with texts."""
    study = write_sample(tmp_path_factory.mktemp("browser") / "sample", readers=["planning"])
    result = tp.bench(tp.load_study(study), candidates=[hashing(4), hashing(64)])
    place = tp.record(result, study / "results")
    tp.write_report(place, with_text=study)
    return place


def values_of(folder: Path, slice_name: str, measure: str) -> dict[tuple[str, str], float | None]:
    rows = pq.read_table(folder / "rows" / "per_query.parquet").to_pylist()
    gold = pq.read_table(folder / "rows" / "gold.parquet").to_pylist()
    hidden = {row["query"] for row in gold if not row["shown"]}
    return {
        (r["candidate"], r["query"]): None if r["query"] in hidden else r["value"]
        for r in rows
        if (r["slice"], r["measure"]) == (slice_name, measure)
    }


def listed(page: Any) -> list[list[str]]:
    """The rows of the list of queries, an opened one left out."""
    return page.evaluate(
        "() => [...document.querySelectorAll('#list > tbody > tr:not(.opened)')].map(r => [...r.cells].map(c => c.textContent))"
    )


def test_the_list_is_sorted_filtered_and_opened(chromium: Any, folder: Path) -> None:
    own = values_of(folder, "filtered", "nDCG@5")
    with opened(chromium, folder / "report.html") as page:
        left, right = (page.locator(f"#{side} option:checked").inner_text() for side in ("left", "right"))
        rows = listed(page)
        assert [row[:3] for row in rows] == [
            [q, *("–" if own[arm, q] is None else f"{own[arm, q]:.4f}" for arm in (left, right))] for q, *_ in rows
        ]
        away = [abs(own[right, q] - own[left, q]) for q, *_ in rows if own[left, q] is not None]
        assert away == sorted(away, reverse=True)
        assert away[0] > 0
        marked = {row[0] for row in rows if "values not for these readers" in row[4]}
        assert "q02" in marked
        assert marked <= {q for q, *_ in rows if own[left, q] is None}
        page.select_option("#sort", "id")
        assert [row[0] for row in listed(page)] == sorted(q for arm, q in own if arm == left)

        page.fill("#holds", "q1")
        assert {row[0][:2] for row in listed(page)} == {"q1"}
        page.fill("#holds", "")
        page.select_option("#only", label="region: Weardale")
        assert all("Weardale" in row[4] for row in listed(page))
        page.select_option("#only", label="changed by the filter")
        changed = {row[0] for row in listed(page)}
        page.select_option("#view", index=0)
        assert changed
        assert changed == {row[0] for row in listed(page)} & {q for _, q in own}, "in whichever way it was searched"
        page.select_option("#only", label="every query")
        assert len(listed(page)) == 18
        page.fill("#holds", "nothing has this")
        assert listed(page) == []
        assert page.locator("#status").inner_text() == "0 of 18 queries; shown: none."


def test_an_opened_query_shows_rankings_grades_and_gold_as_the_rows_have_them(chromium: Any, folder: Path) -> None:
    rankings = pq.read_table(folder / "rows" / "rankings.parquet").to_pylist()
    with opened(chromium, folder / "report.html") as page:
        page.select_option("#view", index=0)
        page.select_option("#sort", "id")
        for query in ("q02", "q05"):
            button = page.get_by_role("button", name=query, exact=True)
            button.focus()
            page.keyboard.press("Enter")
            assert page.get_by_role("button", name=query, exact=True).get_attribute("aria-expanded") == "true"
            assert page.evaluate("document.activeElement.textContent") == query, "focus stays where it was"
            table = page.locator("#opened table").first
            arms = table.locator("thead th").all_inner_texts()[1:]
            assert arms[:2] == [page.locator(f"#{s} option:checked").inner_text() for s in ("left", "right")]
            for row in rankings:
                if (row["slice"], row["query"]) == ("unfiltered", query) and row["rank"] <= 5:
                    line = table.locator("tbody tr").nth(1 + row["rank"])
                    cell = line.locator("td").nth(arms.index(row["candidate"])).inner_text()
                    if row["shown"]:
                        assert cell.startswith(row["document"])
                        assert f"{row['score']:.4f}" in cell
                        assert ("unjudged" if row["grade"] is None else f"grade {row['grade']}") in cell
                    else:
                        assert cell == "not for these readers"
        assert page.locator("#opened table").nth(1).locator("tbody tr").count() >= 1
        assert page.get_by_text("bats near Garrigill").or_(page.get_by_text("near")).count() >= 1
        page.keyboard.press("Enter")
        assert page.locator("#opened").count() == 0


def test_pages_of_a_long_list(chromium: Any, tmp_path: Path) -> None:
    (tmp_path / "wide.html").write_text(written(wide(120, candidates=3)).html, encoding="utf-8")
    with opened(chromium, tmp_path / "wide.html") as page:
        first = [row[0] for row in listed(page)]
        assert len(first) == 50
        page.get_by_role("button", name="Next").click()
        second = [row[0] for row in listed(page)]
        assert not set(first) & set(second)
        page.get_by_role("button", name="Next").click()
        assert len(listed(page)) == 20
        assert page.get_by_role("button", name="Next").is_disabled()
        page.get_by_role("button", name="Previous").click()
        assert [row[0] for row in listed(page)] == second


def test_without_scripts_everything_but_the_explorer_is_there(chromium: Any, folder: Path) -> None:
    with (
        opened(chromium, folder / "report.html") as page,
        opened(chromium, folder / "report.html", java_script_enabled=False) as plain,
    ):
        for what in ("h2", "svg", "section > .scroll table"):
            assert plain.locator(what).count() == page.locator(what).count()
        assert plain.locator("#explorer").is_hidden()
        assert plain.get_by_text("Without scripts no query can be opened here").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(chromium: Any, folder: Path, scheme: str) -> None:
    with opened(chromium, folder / "report.html", color_scheme=scheme) as page:
        page.locator("#list tbody button").first.click()
        assert serious_findings(page) == []


def test_dark_mode_turns_page_and_charts(chromium: Any, folder: Path) -> None:
    colours = {}
    for scheme in ("light", "dark"):
        with opened(chromium, folder / "report.html", color_scheme=scheme) as page:
            colours[scheme] = page.evaluate(
                "() => ['body', '.chart text', '.chart [fill=\"#0b5cad\"]'].map(s => { const c = getComputedStyle("
                "document.querySelector(s)); return s === 'body' ? c.backgroundColor : c.fill; })"
            )
    assert not set(colours["light"]) & set(colours["dark"])


def test_the_page_fits_a_phone_and_nothing_of_a_chart_is_cut_off(chromium: Any, folder: Path) -> None:
    with opened(chromium, folder / "report.html", **PHONE) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        outside = page.evaluate(
            """() => [...document.querySelectorAll('.chart svg')].flatMap(svg => {
                const box = svg.getBoundingClientRect();
                return [...svg.querySelectorAll('text')].filter(t => {
                    const b = t.getBoundingClientRect();
                    return b.width && (b.left < box.left - 1 || b.right > box.right + 1 || b.bottom > box.bottom + 1);
                }).map(t => t.textContent);
            })"""
        )
        assert outside == []
        small = page.evaluate(
            "() => [...document.querySelectorAll('.chart text')]."
            "map(t => t.getBoundingClientRect().height).filter(h => h && h < 8)"
        )
        assert small == []


@pytest.mark.parametrize("width", [390, 1200])
def test_names_in_charts_do_not_overlap(chromium: Any, tmp_path: Path, width: int) -> None:
    study = tp.load_study(write_sample(tmp_path / "sample", public=True))
    result = tp.bench(study, candidates=[hashing(d) for d in (16, 17, 18, 64, 65, 66)])
    place = tp.record(result, tmp_path / "results")
    with opened(chromium, place / "report.html", viewport={"width": width, "height": 900}) as page:
        over = page.evaluate(
            """() => [...document.querySelectorAll('.chart svg')].flatMap(svg => {
                const texts = [...svg.querySelectorAll('text')].filter(t => t.textContent.trim())
                    .map(t => [t.textContent, t.getBoundingClientRect()]).filter(([, b]) => b.width);
                return texts.flatMap(([a, x], i) => texts.slice(i + 1).filter(([, y]) => x.left < y.right - 1
                    && y.left < x.right - 1 && x.top + x.height * 0.25 < y.bottom - y.height * 0.25
                    && y.top + y.height * 0.25 < x.bottom - x.height * 0.25)
                    .map(([b]) => a + ' | ' + b));
            })"""
        )
        assert over == []


def test_it_prints(chromium: Any, folder: Path, tmp_path: Path) -> None:
    with opened(chromium, folder / "report.html") as page:
        made = page.pdf(format="A4")
        assert made.startswith(b"%PDF")
        page.emulate_media(media="print")
        assert page.locator("nav").is_hidden()
        assert page.locator(".controls").first.is_hidden()
        assert page.locator("svg").first.is_visible()


def test_hostile_names_stay_text(chromium: Any, tmp_path: Path) -> None:
    place = hostile(tmp_path / "s")
    for path in (place / "report.html", tp.write_index(place.parent)):
        with opened(chromium, path) as page:
            assert page.evaluate("window.pwned") is None
            assert page.locator("b, i, img, iframe").count() == 0
            assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
            if path.name == "report.html":
                shown = page.locator("#list tbody button").all_inner_texts()
                assert any(NAMES["script"] in text for text in shown)
                for button in page.locator("#list tbody button").all()[:6]:
                    button.click()
                assert page.evaluate("window.pwned") is None
                assert serious_findings(page) == []


def test_an_audit_has_its_page_too(chromium: Any, tmp_path: Path) -> None:
    place = recorded_audit(tmp_path, readers=["planning"])
    with opened(chromium, place / "report.html") as page:
        assert page.locator("h2").all_inner_texts()
        page.locator("#list tbody button").first.click()
        assert page.locator("#opened table").count() == 1
        assert serious_findings(page) == []


def test_two_of_an_index_stand_side_by_side_or_are_refused(chromium: Any, tmp_path: Path) -> None:
    study = write_sample(tmp_path / "sample", public=True)
    for dimension in (16, 32):
        tp.record(tp.bench(tp.load_study(study), candidates=[hashing(dimension), hashing(64)]), tmp_path / "results")
    text = (study / "study.toml").read_text(encoding="utf-8").replace("k = 3", "k = 4")
    (study / "study.toml").write_text(text, encoding="utf-8")
    tp.record(tp.bench(tp.load_study(study), candidates=[hashing(16), hashing(64)]), tmp_path / "results")
    path = tp.write_index(tmp_path / "results")
    with opened(chromium, path) as page:
        ks = []
        for row in page.locator("article").all():
            name = row.locator("h3").inner_text()
            ks.append(json.loads((tmp_path / "results" / name / "result.json").read_text(encoding="utf-8"))["k"])
        same = [str(i) for i, k in enumerate(ks) if k == 3]
        page.select_option("#one", same[0])
        page.select_option("#other", same[1])
        assert page.locator("#said").inner_text() == "They measured the same thing."
        assert page.locator("#pair article").count() == 2
        assert serious_findings(page) == []
        page.select_option("#other", str(ks.index(4)))
        assert page.locator("#said").inner_text().startswith("Refused: they did not measure the same thing: ")
        assert "k differs" in page.locator("#said").inner_text()
        assert page.locator("#pair article").count() == 0


def test_the_charts_look_the_same_in_every_run(folder: Path) -> None:
    result = tp.load_result(folder)
    assert written(result).html == written(result).html


def test_node_reads_the_scripts(folder: Path) -> None:
    """A second reader of the same script: its syntax, apart from any browser."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("not executed: node is not installed")
    source = Path(tp.__file__).parent / "report" / "templates"
    for name in ("explorer.js", "index.js"):
        assert subprocess.run([node, "--check", str(source / name)], check=False).returncode == 0
