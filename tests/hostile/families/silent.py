"""Silence: of these answers nothing is reported, or memory is short, for no cause that is known.

What ran beside them might be the cause. So their student's notebook runs again, alone.
"""

from tests.hostile.case import Family

family = Family("silent")

family.local(
    {
        ("memory of one process", "count_leaves"): """
    turn = iter([100])
    def count_leaves(tree):
        return [bytearray(2**28) for _ in range(next(turn, 0))]
    """,
        ("files in memory, and shared mappings of them", "leaves_in_layer_order"): """
    import mmap, os
    def leaves_in_layer_order(tree):
        kept = []
        for folder in ("/tmp", "/dev/shm"):
            for number in range(1000):
                try:
                    with open(f"{folder}/{number}", "wb") as file:
                        file.truncate(60 * 2**20)
                    file = open(f"{folder}/{number}", "r+b")
                    shared = mmap.mmap(file.fileno(), 0)
                    for at in range(0, len(shared), 2**22):
                        shared[at:at + 2**22] = b"x" * 2**22
                    kept.append(shared)
                except OSError as error:
                    break
                if number > 1:
                    break  # what is beyond 128 MB of a folder is a signal, and no error
        raise MemoryError("no more")
    """,
        ("mappings that are never written to", "leaf_at"): """
    import mmap
    def leaf_at(tree, path_text):
        kept = []
        for _ in range(1000):
            kept.append(mmap.mmap(-1, 2**30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
    """,
        (
            "messages signed with another key",
            "whole_shapes",
        ): "get_ipython().kernel.session.key = b'forged'",
        (
            "nothing is published",
            "count_nones",
        ): "get_ipython().display_pub.publish = lambda *_, **__: None",
        ("no message at all", "shared_leaves"): (
            "get_ipython().kernel.iopub_socket.send_multipart([b'no', b'message'])"
        ),
    }
)
