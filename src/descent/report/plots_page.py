"""The page around every `dvc plots`, with the drawing library inside it."""

import vl_convert

from descent.io import processes

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>DVC plots: constrained and unconstrained unrolled transformers</title>
{refresh_tag}
<style>body { font-family: sans-serif; margin: 1.5rem; } #note { max-width: 60rem; color: #444; }</style>
<script>(function () {
%s
})();</script>
</head>
<body>
<p id="note">Colour: revision. Line: the arm that the parameter <code>method</code> names.
Headline training level, each model at its best depth. This page needs no network.</p>
{plot_divs}
</body>
</html>
"""


def library() -> str:
    """The drawing libraries that `dvc plots` uses, as one script."""
    return processes.apart(vl_convert.javascript_bundle)


def page(library: str) -> str:
    """The page that DVC fills: `{plot_divs}` with the drawing library's source inlined above it.

    Inside a function, so that the library's own short names do not meet the `var spec` of DVC's plots.
    """
    return PAGE % library
