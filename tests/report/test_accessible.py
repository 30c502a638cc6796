"""The page by keyboard, by ear, on paper and in bad light, as far as its source tells; and what it may load."""

import base64
import hashlib
import re
from itertools import pairwise

import pytest

from descent.report import page as report
from tests.fakes.html import Page

pytestmark = pytest.mark.slow  # the page is made first

CSS = (report.TEMPLATES / "page.css").read_text()


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def luminance(color: str) -> float:
    """WCAG's relative luminance of #rrggbb or #rgb."""
    digits = color[1:] if len(color) == 7 else "".join(2 * digit for digit in color[1:])
    channels = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_measured_as_by_wcag() -> None:
    assert contrast("#fff", "#000") == pytest.approx(21) and contrast("#777777", "#fff") == pytest.approx(
        4.48, abs=0.01
    )


def test_every_element_is_closed_and_every_name_is_its_own(page: Page) -> None:
    assert not page.open and len(page.names) == len(set(page.names)) > 20


def test_the_page_has_a_language_a_title_and_its_landmarks_once(page: Page) -> None:
    assert [values["lang"] for values in page.of("html")] == ["en"] and len(page.of("title")) == 1
    assert all(len(page.of(landmark)) == 1 for landmark in ("header", "nav", "main", "footer", "h1"))
    assert ("a", {"class": "skip", "href": "#main"}) in page.elements


def test_headings_follow_each_other_without_a_gap(page: Page) -> None:
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1 and all(after - before <= 1 for before, after in pairwise(levels))


def test_pictures_have_words_and_regions_have_names_of_their_own(page: Page) -> None:
    assert page.of("img") and all(len(image["alt"]) > 20 for image in page.of("img"))
    referred = [values["aria-labelledby"] for _, values in page.elements if "aria-labelledby" in values]
    assert len(referred) == len(set(referred)) == len(page.of("section")) and set(referred) <= set(page.names)
    labels = [values["aria-label"] for _, values in page.elements if values.get("role") == "region"]
    assert len(labels) == len(set(labels))


def test_what_scrolls_can_be_reached_by_keyboard_and_is_named(page: Page) -> None:
    wide = [values for _, values in page.elements if "wide" in (values.get("class") or "").split()]
    assert len(wide) > 10 and all(values["tabindex"] == "0" and values["aria-label"] for values in wide)


def test_every_control_has_a_label_and_every_table_a_head(text: str, page: Page) -> None:
    controls = re.findall(r"<(?:input|select)[^>]*>", text)
    labelled = re.findall(r"<label>.*?</label>", text, re.DOTALL)
    assert len(controls) > 8 and all(any(control in label for label in labelled) for control in controls)
    assert all(re.sub(r"<[^>]+>|\s", "", label) for label in labelled)
    tables = re.findall(r"<table.*?</table>", text, re.DOTALL)
    shown = [table for table in tables if "<code>video.evaluation" not in table and "<code>profiles" not in table]
    assert len(shown) >= 7 and all('<th scope="col"' in table for table in shown)
    assert all(values.get("scope") or values.get("role") for values in page.of("th"))


def test_words_can_be_told_from_their_ground() -> None:
    colors = dict(re.findall(r"--(\w+): (#\w+);", CSS))
    assert all(contrast(colors[name], "#ffffff") >= 4.5 for name in ("ink", "soft", "accent"))
    verdicts = re.findall(r"background: (#\w+); color: (#\w+);", CSS)
    assert len(verdicts) == 4 and all(contrast(*pair) >= 4.5 for pair in verdicts)


def test_print_shows_what_a_screen_scrolls_and_leaves_the_controls_out() -> None:
    printed = CSS[CSS.index("@media print") :]
    assert ".wide { overflow: visible" in printed and ".controls, #explore" in printed


def test_the_policy_lets_the_pages_own_scripts_run_and_nothing_load(page: Page) -> None:
    [policy] = [values["content"] for values in page.of("meta") if "http-equiv" in values]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'" and rules["img-src"] == "data:" and "unsafe-eval" not in policy
    own = [script for script, values in zip(page.scripts, page.of("script"), strict=True) if "type" not in values]
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in own]
    assert len(own) == 3 and rules["script-src"].split() == [f"'sha256-{digest}'" for digest in digests]
    assert not any(name.startswith("on") for _, values in page.elements for name in values), (
        "no handler in the text"
    )
