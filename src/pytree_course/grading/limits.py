"""What a submission may use up: the sandbox's memory, processes, files and time; messages."""

import os

MIB = 2**20
CORES = os.cpu_count() or 1

# The sandbox. JAX starts threads for every core, and their stacks count as memory.
MEMORY = 2048 * MIB + CORES * 32 * MIB
PROCESSES = 128 + 8 * CORES  # threads count too
FILE_BYTES = 64 * MIB  # in one file
FOLDER_BYTES = 128 * MIB  # in all files of a folder: they are in memory
CPU_SECONDS = 900  # of all threads together

# Every kernel, in the sandbox or not.
START_SECONDS = 60.0
CELL_SECONDS = 30.0
MESSAGE_BYTES = 32 * MIB
SOCKET_FOLDER_BYTES = MIB  # in the folder of the kernel's sockets, all that it shares with us
SOCKET_FOLDER_FILES = 100

# The notebook file.
NOTEBOOK_BYTES = 30_000_000  # read as JSON, the worst take twenty-five times as much memory
ANSWER_CHARACTERS = 100_000  # in one answer cell
