"""How Sphinx makes the course's website, of what `python3 course.py site DIR` gives it."""

import tomllib
from pathlib import Path

pyproject = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
addresses = pyproject["project"].get("urls", {})

project = html_title = "Pytrees in JAX"
html_baseurl = addresses.get("Homepage", "")
html_context = {"urls": addresses}

extensions = ["myst_nb", *(["sphinx_sitemap"] if html_baseurl else [])]
sitemap_url_scheme = "{link}"
nb_execution_mode = "off"
nb_render_error_lexer = "none"  # the lessons show an error's message alone
myst_heading_anchors = 4
myst_heading_slug_func = "docutils.nodes.make_id"

suppress_warnings = ["misc.highlighting_failure"]  # csv and others are shown without colours

html_theme = "furo"
html_favicon = "static/favicon.svg"
html_static_path = ["static", "../images/lesson.png"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
templates_path = ["templates"]
html_copy_source = False
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
