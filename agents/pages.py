"""Self-contained HTML pages from templates: a file that loads nothing and has the browser run its own script alone."""

import base64
import hashlib
import itertools
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from agents.charts import numbered

TEMPLATES = Path(__file__).parent / "templates"
STYLE, SCRIPT = "report.css", "report.js"


def page(template: str, **context: Any) -> str:
    """A page; every value is escaped unless it is `Markup`.

    Args:
        template: name of a file in `TEMPLATES`.
        **context: what the template names.
    """
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    numbers = itertools.count()

    def drawing(svg: str) -> Markup:
        return Markup(numbered(svg, next(numbers)))

    environment.filters |= {"signed": signed, "drawing": drawing}
    script = (TEMPLATES / SCRIPT).read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return environment.get_template(template).render(
        style=Markup((TEMPLATES / STYLE).read_text(encoding="utf-8")),
        script=Markup(script),
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
        **context,
    )


def signed(value: float) -> str:
    """Antes as text."""
    return f"{value:+.3f}"
