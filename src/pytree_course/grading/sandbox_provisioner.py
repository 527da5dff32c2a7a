"""The kernel provisioner that starts a kernel in the sandbox."""

import os
from pathlib import Path
from typing import Any

from jupyter_client.manager import KernelManager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from traitlets import Unicode

from pytree_course.grading.sandbox import COURSE_INSIDE, sandbox_user, sandboxed

PROVISIONER = "pytree-course-sandbox"  # its entry point in pyproject.toml


class SandboxProvisioner(LocalProvisioner):
    """Starts a kernel in the sandbox; jupyter_client finds it by its entry point."""

    parent: KernelManager
    course = Unicode(config=True, help="The folder that the kernel sees as the course.")

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        """Wrap the kernel's command into the sandbox."""
        environment = kwargs.pop("env")
        launched = await super().pre_launch(env={}, **kwargs)
        file = Path(self.parent.connection_file)
        os.chown(file, sandbox_user(), -1)
        launched["cmd"] = sandboxed(
            launched["cmd"],
            environment,
            shown={Path(self.course): COURSE_INSIDE, file.parent: str(file.parent)},
        )
        # bubblewrap's own variables: inside, they can be read from its process.
        launched["env"] = {"PATH": os.environ.get("PATH", os.defpath)}
        return launched
