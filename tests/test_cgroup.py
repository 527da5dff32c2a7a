"""Sandboxes in groups of their own (cgroups): Linux bounds and counts what all of it uses.

Few machines let a test make groups. So the tests here run in user-mode Linux too, a Linux that is a
program, where that is installed: `sudo apt install user-mode-linux`.
"""

import os
import shutil
import subprocess
import sys

import pytest

from pytree_course.grading import limits
from pytree_course.grading.sandbox import policy
from tests.conftest import ROOT
from tests.sandboxes import CHILDREN_WITH_MEMORY, needs_sandbox, started

if sys.platform == "linux":
    from pytree_course.grading.sandbox import bounds

pytestmark = [pytest.mark.slow, needs_sandbox, pytest.mark.reads("src/pytree_course/grading")]
HAS_GROUPS = sys.platform == "linux" and bounds.folder_of_groups() is not None
in_groups = pytest.mark.skipif(
    not HAS_GROUPS, reason="no groups can be made here; they are tried in user-mode Linux"
)
UML = shutil.which("linux.uml")
# It runs the tests as root, and looks for groups as a user to whom systemd has delegated one.
INIT = """\
#!/bin/sh
export PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/tmp
mount -t proc proc /proc && mount -t sysfs sys /sys && mount -t tmpfs tmp /tmp
mkdir -p /dev/pts /dev/shm && mount -t devpts pts /dev/pts && mount -t tmpfs shm /dev/shm
chmod 1777 /dev/shm
groups=/sys/fs/cgroup
mount -t cgroup2 cgroup2 $groups
echo "+memory +pids" > $groups/cgroup.subtree_control
mkdir -p $groups/user/session
echo "+memory +pids" > $groups/user/cgroup.subtree_control
for each in user user/session; do chown 1000 $groups/$each $groups/$each/cgroup.procs; done
cd {root}
{python} -m pytest -p no:cacheprovider -n 0 -q --color=no tests/test_cgroup.py
echo $$ > $groups/user/session/cgroup.procs
setpriv --reuid 1000 --regid 1000 --clear-groups {python} -c \\
    "from pytree_course.grading.sandbox.bounds import *; print('as a user', folder_of_groups())"
echo o > /proc/sysrq-trigger
sleep 60
"""


@pytest.fixture(params=["warm", "fresh"])
def kernel(request, monkeypatch):
    """Start a kernel in a sandbox that may use 500 MB."""
    monkeypatch.setenv(policy.ENGINE_VARIABLE, request.param)
    monkeypatch.setattr(limits, "MEMORY", 500 * limits.MIB)
    kernel = started()
    yield kernel
    kernel.stop()


def group_of(kernel):
    return kernel._process.sandbox.group


@in_groups
def test_all_processes_of_a_sandbox_are_in_its_group(kernel):
    inside = [name for name in os.listdir(kernel._process.proc) if name.isdigit()]
    members = group_of(kernel).members.read_text().split()
    assert len(inside) <= len(members) <= len(inside) + 4  # bubblewrap's own are outside
    assert str(os.getpid()) not in members


@in_groups
def test_memory_of_all_is_bounded_at_once(kernel):
    folder = group_of(kernel).members.parent
    assert (folder / "memory.max").read_text().strip() == str(limits.MEMORY)
    assert kernel.run_cell(CHILDREN_WITH_MEMORY).used_up == "memory"
    assert not folder.exists()


@in_groups
def test_a_cell_that_frees_its_memory_may_go_on(kernel):
    run = kernel.run_cell("for _ in range(20): b'x' * 100_000_000")
    assert (run.used_up, run.died, run.error) == ("", False, None)


# Of a chain of processes, each ends without waiting for the next one.
CHAIN = """\
import os, time
def burn(links):
    until = time.monotonic() + 0.1
    while time.monotonic() < until:
        pass
    if links and os.fork() == 0:
        burn(links - 1)
    os._exit(0)
if os.fork() == 0:
    burn(9)
time.sleep(2)
"""


@in_groups
def test_time_of_processes_that_nobody_waited_for_is_counted(kernel):
    used = kernel._process.processes.used
    before = used()
    kernel.run_cell(CHAIN)
    assert 0.9 < used() - before < 3


@in_groups
def test_groups_that_a_killed_grading_left_are_removed(kernel):
    above = group_of(kernel).members.parent.parent
    left = above / f"{bounds._PREFIX}{2**22 + 1}-0"  # no process has this number
    left.mkdir()
    assert bounds._works(above)
    assert not left.exists()
    assert group_of(kernel).members.exists()


def test_where_no_group_can_be_made_none_is_used(monkeypatch, tmp_path):
    (tmp_path / "cgroup.subtree_control").write_text("cpu memory pids")
    monkeypatch.setattr(bounds, "_ROOT", tmp_path)  # no cgroup's folder: no process can join it
    bounds.folder_of_groups.cache_clear()
    assert bounds.new_group() is None
    bounds.folder_of_groups.cache_clear()


@pytest.mark.skipif(HAS_GROUPS or UML is None, reason="user-mode-linux is not installed")
@pytest.mark.thorough
def test_in_user_mode_linux_groups_are_used(tmp_path):
    init = tmp_path / "init.sh"
    init.write_text(INIT.format(root=ROOT, python=sys.executable))
    init.chmod(0o755)
    booted = subprocess.run(
        [
            *(UML, "mem=4G", "rootfstype=hostfs", "rootflags=/", "rw", f"init={init}"),
            *("con=null", "con0=null,fd:1", f"uml_dir={tmp_path}"),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=900,
        check=False,
    )
    for expected in ("11 passed, 1 skipped", "as a user /sys/fs/cgroup/user"):
        assert expected in booted.stdout, booted.stdout[-5000:]
