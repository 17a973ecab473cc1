"""Starts a command in a terminal, closes the terminal once a text was shown, and prints what was shown.

Usage: terminal.py TEXT COMMAND [ARG...]
"""
import os
import pty
import sys

text = sys.argv[1].encode()
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
shown = b""
while text not in shown:
    try:
        chunk = os.read(terminal, 4096)
    except OSError:
        break
    if not chunk:
        break
    shown += chunk
os.close(terminal)
_, status = os.waitpid(pid, 0)
print(shown.decode().replace("\r\n", "\n"), end="")
# A shell that its terminal hung up on.
sys.exit(0 if os.WIFSIGNALED(status) else 3)
