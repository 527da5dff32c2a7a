"""JupyterLab as a learner sees it: the real server, a real browser, and words for what they do."""

import json
import os
import secrets
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

import nbformat
from playwright.sync_api import Locator, Page, expect

from tests import ports

ROOT = Path(__file__).parents[2]
LEARNERS_FOLDERS = ("notebooks", "exercises", "checks")

PATIENCE = 300_000  # ms, for anything that a person would wait for, on however busy a machine


class Lab:
    """JupyterLab on a learner's copy of the course, started by the course's own command."""

    def __init__(self, folder: Path, python: str | Path = sys.executable) -> None:
        self.root = folder / "course"
        self.token = secrets.token_hex(16)
        self.log = folder / "lab.log"
        self._copy_the_course()
        self.url = ""  # known when it has started
        self.command = [
            *(str(python), "-P", "-m", "pytree_course", "lab", "--no-browser", "--allow-root"),
            *("--ServerApp.ip=127.0.0.1", "--ServerApp.port=0"),  # any port that is free
            # If the tests are killed, the server does not outlive them for long.
            "--ServerApp.shutdown_no_activity_timeout=600",
            # Gives the tests the object `jupyterapp`; it changes nothing that is seen.
            *(f"--IdentityProvider.token={self.token}", "--LabApp.expose_app_in_browser=True"),
        ]
        config, self.runtime = folder / "config", folder / "runtime"
        self.workspaces = folder / "workspaces"
        config.mkdir()
        # Its kernels have ports as kernels of the tests have.
        give = f"import runpy\nrunpy.run_path({ports.__file__!r})['give_kernels_such_ports']()\n"
        (config / "jupyter_server_config.py").write_text(give, encoding="utf-8")
        # The settings of whoever runs the tests are not a learner's.
        self.variables = os.environ | {
            "JUPYTER_CONFIG_DIR": str(config),
            "JUPYTER_DATA_DIR": str(folder / "data"),
            "JUPYTER_RUNTIME_DIR": str(self.runtime),
            "JUPYTERLAB_WORKSPACES_DIR": str(self.workspaces),
            "IPYTHONDIR": str(folder / "ipython"),
        }

    def __enter__(self) -> Self:
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                self.command,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.root,
                env=self.variables,
                start_new_session=True,
            )
        while not self._answers():
            if self.process.poll() is not None:
                raise RuntimeError(f"JupyterLab did not start:\n{self.log.read_text('utf-8')}")
            time.sleep(0.1)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()  # it ends the server, which ends the kernels
        self.process.wait()
        assert not self._answers(), "course.py has ended, and its JupyterLab has not"

    def start_afresh(self) -> None:
        """End all kernels, and give the learner an unworked copy of the course."""
        for session in json.loads(self.request("/api/sessions")):
            self.request(f"/api/sessions/{session['id']}", "DELETE")
        for left in self.root.iterdir():  # not the folder itself: the server runs in it
            if left.is_dir():
                shutil.rmtree(left)
            else:
                left.unlink()
        self._copy_the_course()
        shutil.rmtree(self.workspaces, ignore_errors=True)  # what was open
        self._set("notebook-extension:tracker", {})
        self._set("apputils-extension:themes", {})

    def draw_all_cells(self) -> None:
        """Have notebooks that are opened from now on draw every cell, those far down included."""
        self._set("notebook-extension:tracker", {"windowingMode": "none"})

    def _set(self, extension: str, settings: dict[str, str]) -> None:
        raw = {"raw": json.dumps(settings)}
        self.request(f"/lab/api/settings/@jupyterlab/{extension}", "PUT", raw)

    def write(self, path: str, cells: dict[str, str]) -> None:
        """Write a notebook of code cells, given by their ids, into the course."""
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        new = [nbformat.v4.new_code_cell(source, id=name) for name, source in cells.items()]
        notebook = nbformat.v4.new_notebook(cells=new, metadata={"kernelspec": kernel})
        nbformat.write(notebook, self.root / path)

    def _copy_the_course(self) -> None:
        for name in LEARNERS_FOLDERS:
            shutil.copytree(ROOT / name, self.root / name)

    def _answers(self) -> bool:
        """Find out where the server is, and whether it answers yet."""
        for said in self.runtime.glob("jpserver-*.json"):
            try:
                self.url = json.loads(said.read_text("utf-8"))["url"].rstrip("/")
                self.request("/api/status")
            except (ValueError, OSError):  # half written, or not listening yet
                return False
            return True
        return False

    def request(self, path: str, method: str = "GET", content: object = None) -> bytes:
        """Ask the server; OSError when it does not answer."""
        request = urllib.request.Request(
            self.url + path,
            data=None if content is None else json.dumps(content).encode(),
            method=method,
            headers={"Authorization": f"token {self.token}"},
        )
        with urllib.request.urlopen(request) as answer:
            return answer.read()


class Visit:
    """One browser page at the lab; it notes all other hosts that it asks."""

    def __init__(self, lab: Lab, page: Page) -> None:
        self.lab = lab
        self.page = page
        self.other_hosts: list[str] = []
        page.set_default_timeout(PATIENCE)
        page.on("request", lambda request: self._note(request.url))
        page.on("websocket", lambda socket: self._note(socket.url))

    def _note(self, url: str) -> None:
        if urlsplit(url).netloc not in ("", urlsplit(self.lab.url).netloc):  # "": data and blobs
            self.other_hosts.append(url)

    def open_start(self) -> "Notebook":
        """Open the lab where it opens by itself, which has to be at a notebook."""
        self.page.goto(f"{self.lab.url}/?token={self.lab.token}")
        self.page.wait_for_url("**/lab/tree/**")
        return Notebook(self, urlsplit(self.page.url).path.partition("/lab/tree/")[2])

    def open(self, path: str) -> "Notebook":
        """Open a notebook by its path in the course, with a kernel that is ready."""
        self.page.goto(f"{self.lab.url}/lab/tree/{path}?reset&token={self.lab.token}")
        return Notebook(self, path)


class Notebook:
    """A notebook that is open in the lab. Cells are named by their id."""

    def __init__(self, visit: Visit, path: str) -> None:
        self.visit = visit
        self.page = visit.page
        self.path = path
        self.page.wait_for_function("() => window.jupyterapp?.shell")
        self._wait(
            "panel && panel.sessionContext.isReady && panel.content.widgets.length > 0"
            " && panel.content.widgets.length === panel.content.model.cells.length"
            " && document.querySelector('#jupyterlab-splash') === null"
        )
        self.wait_until_idle()
        self._script("for (const c of panel.content.widgets) c.node.dataset.cellId = c.model.id;")

    _PANEL = """
        const app = window.jupyterapp;
        const panel = [...app.shell.widgets('main')].find(w => w.context?.path === path);
    """

    def _wait(self, condition: str) -> None:
        function = f"(path) => {{ {self._PANEL} return {condition}; }}"
        self.page.wait_for_function(function, arg=self.path)

    def _script(self, code: str, **arguments: Any) -> Any:
        function = f"""async ({{path, {", ".join(arguments)}}}) => {{
            {self._PANEL}
            {code}
        }}"""
        return self.page.evaluate(function, {"path": self.path, **arguments})

    def wait_until_idle(self) -> None:
        """Wait until the kernel is ready and has answered all that it was asked.

        "Run All" is over for JupyterLab at the first error, meant or not, and the kernel is idle
        between two cells; but it answers in order.
        """
        self._wait("panel.sessionContext.session?.kernel?.status === 'idle'")
        self._script("await panel.sessionContext.session.kernel.requestKernelInfo();")

    def _come_to_front(self) -> None:
        self._script("app.shell.activateById(panel.id);")
        self._wait("app.shell.currentWidget === panel")

    def _run(self, command: str, before: str | None, after: str | None) -> None:
        """Execute a command after a cell was chosen, and then choose another, all in one step."""
        self._come_to_front()
        self._script(
            """
            const choose = id => {
                const index = panel.content.widgets.findIndex(cell => cell.model.id === id);
                if (index < 0) throw new Error(`no cell ${id}`);
                panel.content.deselectAll();
                panel.content.activeCellIndex = index;
            };
            if (before) choose(before);
            const running = app.commands.execute(command);
            if (after) choose(after);
            await running;
            """,
            command=command,
            before=before,
            after=after,
        )
        self.wait_until_idle()

    def run_all(self, reading: str | None = None) -> None:
        """Run all cells until one fails; meanwhile the reader goes to a cell, if one is named."""
        self._run("notebook:run-all-cells", None, reading)

    def run(self, *cell_ids: str) -> None:
        """Run cells, one after the other."""
        for cell_id in cell_ids:
            self._run("notebook:run-cell", cell_id, None)

    def choose(self, cell_id: str) -> None:
        """Choose a cell."""
        self._run("notebook:enter-command-mode", cell_id, None)

    def run_by_keyboard(self, cell_id: str) -> None:
        """Choose a cell and press Shift+Enter, after which JupyterLab goes on to the next cell."""
        self.choose(cell_id)
        self._wait("panel.content.node.contains(document.activeElement)")
        self.page.keyboard.press("Shift+Enter")

    def restart(self) -> None:
        """Restart the kernel."""
        self._script("await panel.sessionContext.session.kernel.restart();")
        self.wait_until_idle()

    def write(self, cell_id: str, source: str) -> None:
        """Put source into a cell, as if typed."""
        self._script(
            "panel.content.widgets.find(c => c.model.id === id)"
            ".model.sharedModel.setSource(source);",
            id=cell_id,
            source=source,
        )

    def use_theme(self, theme: str) -> None:
        """Change the lab's colours."""
        self._script("await app.commands.execute('apputils:change-theme', {theme});", theme=theme)
        self.page.wait_for_function(
            "(theme) => document.body.dataset.jpThemeName === theme"
            " && document.querySelector('#jupyterlab-splash') === null",
            arg=theme,
        )

    def failed(self) -> list[str]:
        """Return the ids of the code cells that were not run, or were not meant to raise."""
        return self._script("""
            const raised = c => c.outputs.some(o => o.output_type === 'error');
            const isMeantTo = c => (c.metadata.tags ?? []).includes('raises-exception');
            return panel.content.model.toJSON().cells.filter(c => c.cell_type === 'code')
                .filter(c => !c.execution_count || (raised(c) && !isMeantTo(c))).map(c => c.id);
        """)

    def cell(self, cell_id: str) -> Locator:
        """Return a cell on the page, scrolled into sight."""
        cell = self.page.locator(f'[data-cell-id="{cell_id}"]')
        cell.scroll_into_view_if_needed()
        return cell

    def output(self, cell_id: str) -> Locator:
        """Return a cell's output area on the page."""
        return self.cell(cell_id).locator(".jp-Cell-outputArea")

    def output_text(self, cell_id: str) -> str:
        """Return a cell's output as it is read."""
        return "\n".join(self.output(cell_id).locator(".jp-OutputArea-output").all_inner_texts())


def active_cell(page: Page) -> str:
    """Return the id of the cell that Shift+Enter would run."""
    return page.evaluate("jupyterapp.shell.currentWidget.content.activeCell.model.id")


def expect_landed(page: Page, heading: str) -> None:
    """Expect a heading at the top of the window, in the cell that Shift+Enter would run.

    What ends a notebook is as far up as the notebook can be scrolled.
    """
    active = page.locator(".jp-Notebook-cell.jp-mod-active").filter(visible=True)
    landed = active.get_by_role("heading", name=heading, exact=True)
    expect(landed).to_be_in_viewport()
    page.wait_for_function(
        """heading => {
            let pane = heading.parentElement;
            while (pane.scrollHeight <= pane.clientHeight + 1) pane = pane.parentElement;
            const is_at_end = pane.scrollTop + pane.clientHeight >= pane.scrollHeight - 2;
            return heading.getBoundingClientRect().top < 200 || is_at_end;
        }""",
        arg=landed.element_handle(),
    )
