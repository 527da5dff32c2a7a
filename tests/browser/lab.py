"""JupyterLab as a learner sees it: the real server, a real browser, and words for what they do."""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import nbformat
from playwright.sync_api import Locator, Page, Route, WebSocket

from tests import ports

ROOT = Path(__file__).parents[2]
LEARNERS_FOLDERS = ("notebooks", "exercises", "checks")

PATIENCE = 60_000  # ms, for anything that a person would wait for


class Lab:
    """JupyterLab on a learner's copy of the course, started by the course's own command."""

    program: tuple[str, ...] = ("pytree_course", "lab")
    notebooks_at = "lab/tree"  # of the server's address

    def __init__(self, folder: Path, python: str | Path = sys.executable) -> None:
        self.root = folder / "course"
        self.token = secrets.token_hex(16)
        self.log = folder / "lab.log"
        self._copy_the_course()
        port = ports.free_port()
        self.url = f"http://127.0.0.1:{port}"
        self.command = [
            *(str(python), "-P", "-m", *self.program, "--no-browser", "--allow-root"),
            *("--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
            # If the tests are killed, the server does not outlive them for long.
            "--ServerApp.shutdown_no_activity_timeout=600",
            # Gives the tests the object `jupyterapp`; it changes nothing that is seen.
            *(f"--IdentityProvider.token={self.token}", "--LabApp.expose_app_in_browser=True"),
        ]
        config = folder / "config"
        config.mkdir()
        # Its kernels have ports as kernels of the tests have.
        give = f"import runpy\nrunpy.run_path({ports.__file__!r})['give_kernels_such_ports']()\n"
        (config / "jupyter_server_config.py").write_text(give, encoding="utf-8")
        # The settings of whoever runs the tests are not a learner's.
        self.variables = os.environ | {
            "JUPYTER_CONFIG_DIR": str(config),
            "JUPYTER_DATA_DIR": str(folder / "data"),
            "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
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
        end = time.monotonic() + PATIENCE / 1000
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > end:
                self._stop()
                raise RuntimeError(f"JupyterLab did not start:\n{self.log.read_text('utf-8')}")
            time.sleep(0.1)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

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
        try:
            self.request("/api/status")
        except OSError:
            return False
        return True

    def request(self, path: str, method: str = "GET", content: object = None) -> bytes:
        """Ask the server; OSError when it does not answer."""
        request = urllib.request.Request(
            self.url + path,
            data=None if content is None else json.dumps(content).encode(),
            method=method,
            headers={"Authorization": f"token {self.token}"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read()

    def _stop(self) -> None:
        # The whole session: the command, the server and its kernels.
        for how in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, how)
            except ProcessLookupError:
                return
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                continue
            time.sleep(0.5)


class PlainLab(Lab):
    """JupyterLab as a hub or Binder starts it, for somebody who has never used Jupyter."""

    program: tuple[str, ...] = ("jupyterlab",)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        kept = {
            name: text
            for name, text in self.variables.items()
            if not name.startswith(("JUPYTER", "XDG_", "IPYTHON"))
        }
        self.variables = kept | {"HOME": str(folder), "USERPROFILE": str(folder)}


class Notebook7(PlainLab):
    """Jupyter Notebook, which is not of the course's environment, as somebody has it beside it."""

    program: tuple[str, ...] = ("notebook",)
    notebooks_at = "notebooks"

    def __init__(self, folder: Path, installed: Path) -> None:
        super().__init__(folder)
        self.command = [part.replace("LabApp", "JupyterNotebookApp") for part in self.command]
        # It finds schemas and themes in one folder, where an installation would have put them.
        shutil.copytree(Path(sys.prefix, "share/jupyter/lab"), installed / "app")
        shutil.copytree(installed / "share/jupyter/lab", installed / "app", dirs_exist_ok=True)
        self.variables |= {"PYTHONPATH": str(installed), "JUPYTERLAB_DIR": str(installed / "app")}


class Visit:
    """One browser page at the lab. It can't reach, and notes, any other host."""

    def __init__(self, lab: Lab, page: Page) -> None:
        self.lab = lab
        self.page = page
        self.other_hosts: list[str] = []
        self.requests = 0
        page.set_default_timeout(PATIENCE)
        page.route("**/*", self._only_the_lab)
        page.on("websocket", self._note_socket)

    def _is_lab(self, url: str) -> bool:
        return urlsplit(url).netloc == urlsplit(self.lab.url).netloc

    def _only_the_lab(self, route: Route) -> None:
        self.requests += 1
        if self._is_lab(route.request.url):
            route.continue_()
        else:
            self.other_hosts.append(route.request.url)
            route.abort()

    def _note_socket(self, socket: WebSocket) -> None:
        if not self._is_lab(socket.url):
            self.other_hosts.append(socket.url)

    def open_start(self) -> "Notebook":
        """Open the lab where it opens by itself, which has to be at a notebook."""
        self.page.goto(f"{self.lab.url}/?token={self.lab.token}")
        self.page.wait_for_url("**/lab/tree/**")
        return Notebook(self, urlsplit(self.page.url).path.partition("/lab/tree/")[2])

    def open(self, path: str) -> "Notebook":
        """Open a notebook by its path in the course, with a kernel that is ready."""
        there = f"{self.lab.url}/{self.lab.notebooks_at}/{path}"
        self.page.goto(f"{there}?reset&token={self.lab.token}")
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

    def _command(self, name: str, at: str | None = None) -> None:
        """Execute a command, at a cell if one is named: in one step, so that none comes between."""
        self._script(
            """
            app.shell.activateById(panel.id);
            if (id !== null) {
                const index = panel.content.widgets.findIndex(c => c.model.id === id);
                if (index < 0) throw new Error(`no cell ${id}`);
                panel.content.deselectAll();
                panel.content.activeCellIndex = index;
            }
            const late = new Promise((_, no) => setTimeout(() => no(new Error('late')), patience));
            await Promise.race([app.commands.execute(name), late]);
            """,
            name=name,
            id=at,
            patience=PATIENCE,
        )
        self.wait_until_idle()

    def wait_until_idle(self) -> None:
        """Wait until the kernel is ready and has nothing to do."""
        self._wait("panel.sessionContext.session?.kernel?.status === 'idle'")

    def run_all(self) -> None:
        """Run all cells, from the top until one fails."""
        self._command("notebook:run-all-cells")

    def run(self, *cell_ids: str) -> None:
        """Run cells, one after the other."""
        for cell_id in cell_ids:
            self._command("notebook:run-cell", at=cell_id)

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
        """Return the ids of the cells that raised an error, but were not meant to."""
        return self._script("""
            const raised = c => (c.outputs ?? []).some(o => o.output_type === 'error');
            const isMeantTo = c => (c.metadata.tags ?? []).includes('raises-exception');
            return panel.content.model.toJSON().cells
                .filter(c => raised(c) && !isMeantTo(c)).map(c => c.id);
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
