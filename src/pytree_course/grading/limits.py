"""What a submission may use up: the sandbox's memory, processes, files and time; messages."""

import os

MIB = 2**20
CORES = os.cpu_count() or 1

# The sandbox. JAX starts threads for every core, and their stacks count as memory.
MEMORY = 2048 * MIB + CORES * 32 * MIB  # of each process, and of all together with their files
PROCESSES = 128 + 8 * CORES  # threads count too
FILE_BYTES = 64 * MIB  # in one file
FOLDER_BYTES = 128 * MIB  # in all files of a folder: they are in memory
CPU_SECONDS = 900  # of all threads together
OPEN_FILES = 256  # of a process
SOCKETS = 1_000  # of all processes: what waits in them is memory too
FILES = 20_000  # in all folders: an empty one is memory too
WATCH_SECONDS = 0.2  # between two looks at what all processes use up together

# Every kernel, in the sandbox or not.
START_SECONDS = 60.0
CELL_SECONDS = 30.0
MESSAGE_BYTES = 32 * MIB

# The notebook file.
NOTEBOOK_BYTES = 100_000_000
