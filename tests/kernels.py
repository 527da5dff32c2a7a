"""Kernels of this environment, in which tests run cells as a front end does."""

import os
import re
from contextlib import contextmanager

from jupyter_client.manager import start_new_kernel


@contextmanager
def running_kernel(folder, **variables):
    """Start a kernel; give a function that runs a cell, perhaps one with an id, for its output."""
    manager, client = start_new_kernel(cwd=str(folder), env={**os.environ, **variables})
    make_message = client.session.msg

    def run(cell, cell_id=""):
        texts = []

        def collect(message):
            content = message["content"]
            # The data of a widget's own messages is something else.
            texts.append(content.get("text", content.get("data", {}).get("text/plain", "")))
            texts.extend(content.get("traceback", ()))

        # As JupyterLab does, it says which cell it runs.
        metadata = {"cellId": cell_id}
        client.session.msg = lambda *it, **them: make_message(*it, **them, metadata=metadata)
        client.execute_interactive(cell, output_hook=collect, timeout=60)
        client.session.msg = make_message
        return " ".join(re.sub(r"\x1b\[[0-9;]*m", "", " ".join(texts)).split())

    yield run
    client.stop_channels()
    manager.shutdown_kernel(now=True)
