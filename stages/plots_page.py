"""python -m stages.plots_page: data/plots_page.html, the page around every `dvc plots`, which opens offline."""

from pathlib import Path

from descent import errors
from descent.io.folders import write_text
from descent.report import plots_page


def main() -> None:
    """Inline the drawing libraries, so that a browser without a network draws the plots."""
    write_text(Path("data/plots_page.html"), plots_page.page(plots_page.library()))


if __name__ == "__main__":
    errors.run(main)
