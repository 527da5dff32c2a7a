"""A submission's limits: memory, processes, files, time and messages.

What the sandbox shows is in `sandbox/policy.py`, and which system calls it allows, in
`sandbox/system_calls.py`. docs/sandbox.md says what to run after a change.
"""

import os

MIB = 2**20
CORES = os.cpu_count() or 1

# The sandbox. JAX starts threads for every core, and their stacks count as memory.
MEMORY = 2048 * MIB + CORES * 32 * MIB  # of each process, and of all together with their files
THREADS = 128 + 8 * CORES  # of all processes together
PROCESSES = 32 + 2 * CORES  # a pool of the usual size, and what starts it
FILE_BYTES = 64 * MIB  # in one file
FOLDER_BYTES = 128 * MIB  # in all files of a folder: they are in memory
CPU_SECONDS = 900  # of all threads of a process: see also EXERCISE_SECONDS
OPEN_FILES = 256  # of a process
TERMINALS = 16
FILES = 20_000  # in a folder in memory: an empty one is memory too
WATCH_SECONDS = 0.2  # between two looks at what all processes use up together

# Every kernel, in the sandbox or not; `budget` defines how time is charged. Of the right answers,
# the longest takes 3.6 seconds on a busy machine, those of a whole lesson take 12.4, and a check's
# largest report has 100 kB.
#
# An exercise that runs again in a kernel of its own, because another answer may have ended the
# first, has all of its time again; wrong answers run again on the public cases, all within the time
# of one exercise. A submission's limit is for all of that: a few endless loops beside right
# answers. It may run again, as a whole, after all others.
START_SECONDS = 60.0  # for a kernel to get ready, and for all that runs before the exercises
EXERCISE_SECONDS = 18.0  # for an answer cell and its check cell together
SUBMISSION_SECONDS = 50.0  # for all kernels of a submission
EXERCISE_MESSAGES = 12_000
EXERCISE_BYTES = 32 * MIB
REPORT_BYTES = 2 * MIB  # a longer message is counted, but not read

# The notebook files.
NOTEBOOK_BYTES = 30_000_000
NOTEBOOK_ENTRIES = 1_000_000  # commas and opening brackets; reading them as JSON takes a second
READING_SECONDS = 10.0  # for one of them, and to unpack a zip
STUDENTS_READING_SECONDS = 20.0  # for all files of one student, and as long to unpack the zips

# Everything that one student hands in, in zips too. A copy of the course has 400 files.
STUDENTS_ENTRIES = 2_000  # files and folders
STUDENTS_BYTES = 200_000_000
FOLDERS_DEEP = 50
ANSWER_CHARACTERS = 100_000  # in one answer cell
