"""Starts a program N times, as torchrun does: RANK, LOCAL_RANK, WORLD_SIZE in the environment of each."""
import os
import subprocess
import sys

size = int(sys.argv[1])
workers = [
    subprocess.Popen(
        sys.argv[2:],
        env={**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(size), "MASTER_ADDR": "localhost"},
    )
    for rank in range(size)
]
sys.exit(max(worker.wait() for worker in workers))
