"""How Sphinx makes the course's website, of what `python3 course.py site DIR` gives it."""

from html import escape
from pathlib import Path

from sphinx.application import Sphinx

project = "Pytrees in JAX"
author = "The authors of Pytrees in JAX"
language = "en"

extensions = ["myst_nb", "sphinxext.opengraph"]
nb_execution_mode = "off"
nb_merge_streams = True
nb_render_error_lexer = "none"  # the lessons show the message alone, without a traceback
myst_heading_anchors = 4
myst_heading_slug_func = "docutils.nodes.make_id"

html_theme = "furo"
html_title = project
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["site.css"]
templates_path = ["templates"]
ogp_image = "_static/preview.png"
ogp_social_cards = {"enable": False}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"


def add_focus(app: Sphinx, page: str, template: str, context: dict, doctree: object) -> None:
    """Let the keyboard scroll what is wider than a phone: code, output and tables."""
    if "body" in context:
        for begin in ("<pre", '<div class="table-wrapper'):
            context["body"] = context["body"].replace(begin, f'{begin[:4]} tabindex="0"{begin[4:]}')


def write_sitemap(app: Sphinx, error: Exception | None) -> None:
    """Tell search engines which pages there are, where the site's address is known."""
    if error is None and (address := app.config.html_baseurl):
        pages = sorted(address + app.builder.get_target_uri(name) for name in app.env.found_docs)
        entries = "".join(f"<url><loc>{escape(page)}</loc></url>\n" for page in pages)
        sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{entries}</urlset>'
        Path(app.outdir, "sitemap.xml").write_text(f"{sitemap}\n", encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Add both to the build."""
    app.connect("html-page-context", add_focus)
    app.connect("build-finished", write_sitemap)
