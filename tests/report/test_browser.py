"""The page in a browser, where Chromium is installed: accessibility, narrow and wide, and its controls."""

import html
import json
import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from descent.config import Params
from stages import report as report_stage

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
FRAME = """<pre id="told"></pre>
<iframe src="page.html" style="width: {width}px; height: 900px; border: 0"></iframe>
<script>onmessage = (event) => document.getElementById("told").textContent = event.data</script>"""
ASKED = """<script>addEventListener("load", async () => {{
  const wait = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));
  await wait(2);
  parent.postMessage(JSON.stringify(await (async () => {{ {script} }})()), "*");
}});</script>"""
TRIED = """
  const one = (query) => document.querySelector(query), all = (query) => [...document.querySelectorAll(query)];
  const seen = () => ({
    axis: all("#drawn .role-axis-label text").map((label) => label.textContent).join(" "),
    rows: all("#readout tr").length, at: one("#at-value").textContent, claims: one("#count").value,
  });
  const found = [seen()];
  const enter = (query, value) => {
    one(query).value = value;
    one(query).dispatchEvent(new Event("input", { bubbles: true }));
  };
  const act = async (change) => { change(); await wait(1); found.push(seen()); };
  await act(() => one("input[name=scale][value=log]").click());
  await act(() => enter("#at", one("#at").max));
  await act(() => one("input[name=arm]").click());
  await act(() => enter("#words", "descent"));
  return found;
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]


@pytest.fixture(scope="module")
def text(project: Path, params: Params, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page with the drawing library, for which others here have a stand-in."""
    root = shutil.copytree(project, tmp_path_factory.mktemp("browser") / "project", symlinks=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setattr("descent.config.load", lambda *_: params)
        report_stage.main()
    return (root / "figures/index.html").read_text()


def browsed(address: Path, *more: str) -> subprocess.CompletedProcess[str]:
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=60000", "--dump-dom"]
    command = [str(CHROMIUM), *options, *more, f"file://{address}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)


def asked(text: str, script: str, folder: Path, width: int = 1280) -> Any:
    """What a script says of the page in a frame of so many pixels; its policy would forbid it, and is off."""
    place = text.rindex("</body>")  # an earlier one stands in the drawing library
    added = text[:place] + ASKED.format(script=script) + text[place:]
    (folder / "page.html").write_text(POLICY.sub("", added))
    (folder / "frame.html").write_text(FRAME.format(width=width))
    dom = browsed(folder / "frame.html", "--window-size=1500,1000").stdout
    return json.loads(html.unescape(re.search(r'<pre id="told">(.*?)</pre>', dom, re.DOTALL)[1]))


def test_axe_finds_no_fault(text: str, tmp_path: Path) -> None:
    library = (files("axe_core_python") / "axe.min.js").read_text()
    rules = "(await axe.run()).violations.map((fault) => [fault.id, fault.nodes.map((node) => node.html)])"
    assert asked(text, f"{library}; return {rules};", tmp_path) == []
    broken = text.replace("<img ", '<img data-x alt="" role="none presentation" aria-hidden="maybe" ', 1)
    assert asked(broken, f"{library}; return {rules};", tmp_path), "it would see one"


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_window(text: str, tmp_path: Path, width: int) -> None:
    told = asked(text, "return [innerWidth, document.documentElement.scrollWidth];", tmp_path, width)
    assert told[0] == width >= told[1]


def test_the_controls_change_what_is_shown(text: str, tmp_path: Path) -> None:
    first, logarithmic, moved, fewer, filtered = asked(text, TRIED, tmp_path)
    assert first["axis"] and logarithmic["axis"] != first["axis"]
    assert moved["at"] != logarithmic["at"] and 0 < fewer["rows"] < moved["rows"]
    assert filtered["claims"] != first["claims"]


def test_the_pages_own_policy_lets_its_scripts_run(text: str, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(text)
    told = browsed(tmp_path / "page.html", "--enable-logging=stderr")
    assert "role-axis-label" in told.stdout, "the curves are drawn"
    assert not re.findall(r".*CONSOLE.*", told.stderr)


def test_tables_of_many_columns_lie_across_on_paper_and_all_else_upright(text: str, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(text)
    browsed(tmp_path / "page.html", f"--print-to-pdf={tmp_path / 'page.pdf'}", "--no-pdf-header-footer")
    boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", (tmp_path / "page.pdf").read_bytes())
    across = [float(width) > float(height) for width, height in boxes]
    assert any(across) and sum(across) < len(across) / 2
