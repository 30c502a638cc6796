"""The formulas in captions, written there in plain words, as MathML."""

import re

from markupsafe import Markup, escape

GREEK = {
    "alpha": "α",  # noqa: RUF001
    "gamma": "γ",  # noqa: RUF001
    "delta": "δ",
    "eps": "ϵ",
    "zeta": "ζ",
    "lambda": "λ",
    "nu": "ν",  # noqa: RUF001
    "rho": "ρ",  # noqa: RUF001
    "tau": "τ",
}
OPERATORS = {"<=": "≤", ">=": "≥", "-": "−", "...": "…", "/": "/", "<": "<", ">": ">", "=": "=", "+": "+"}  # noqa: RUF001
WORD = "|".join(GREEK)
OPERATOR = "|".join(map(re.escape, OPERATORS))
SYMBOL = rf"(?:(?:{WORD}|[A-Za-z])_(?:\{{[^}}]+\}}|\w)|R0|{WORD})"
SIMPLE = rf"(?:{SYMBOL}|\d+(?:\.\d+)?)"
ATOM = rf"(?:{SIMPLE}|\({SIMPLE}(?: ?(?:{OPERATOR}) ?{SIMPLE})*\)(?:\^\w)?)"
# A name in a dotted path or in code is no symbol.
FORMULA = re.compile(rf"(?<![\w.`$^-]){ATOM}(?:(?: ?(?:{OPERATOR}) ?| (?=\()){ATOM})*(?![\w`-]|\.\w)")
TOKEN = re.compile(rf"(?:{WORD})(?![A-Za-z])|[A-Za-z]|\d+(?:\.\d+)?|{OPERATOR}|[()_^{{}}]")
CODE = re.compile(r"`([^`]+)`")


def mathematics(text: str) -> Markup:
    """Words as HTML, with `code`, and with formulas as MathML: f_{l-1}, gamma <= eps, R0 (1 - alpha)^l."""
    found = Markup()
    end = 0
    for match in re.finditer(rf"{CODE.pattern}|{FORMULA.pattern}", text):
        code = match[1]
        plain = text[end : match.start()]
        if not code and not re.search(SYMBOL, match[0]):  # numbers alone
            continue
        found += escape(plain) + (Markup("<code>{}</code>").format(code) if code else formula(match[0]))
        end = match.end()
    return found + escape(text[end:])


def formula(text: str) -> Markup:
    """One formula as MathML; raised and lowered: a letter, a digit, or what stands in braces."""
    tokens = TOKEN.findall(re.sub(r"\bR0\b", "R_0", text))
    parts: list[Markup] = []
    while tokens:
        token = tokens.pop(0)
        if token in "_^":
            tag = {"_": "msub", "^": "msup"}[token]
            parts[-1] = Markup(f"<{tag}>{{}}{{}}</{tag}>").format(parts[-1], _script(tokens))
        else:
            parts.append(_element(token))
    return Markup("<math><mrow>{}</mrow></math>").format(Markup().join(parts))


def _script(tokens: list[str]) -> Markup:
    """What is raised or lowered, taken from the front of the tokens."""
    if tokens[0] != "{":
        return _element(tokens.pop(0))
    end = tokens.index("}")
    inside = tokens[1:end]
    del tokens[: end + 1]
    return Markup("<mrow>{}</mrow>").format(Markup().join(map(_element, inside)))


def _element(token: str) -> Markup:
    if token[0].isdigit():
        return Markup("<mn>{}</mn>").format(token)
    if token in "()":
        return Markup('<mo stretchy="false">{}</mo>').format(token)
    if token in OPERATORS:
        return Markup("<mo>{}</mo>").format(OPERATORS[token])
    return Markup("<mi>{}</mi>").format(GREEK.get(token, token))
