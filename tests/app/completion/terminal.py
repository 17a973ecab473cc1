"""python3 terminal.py SHELL SETUP KEYS...: types keys into an interactive shell in a terminal and
prints, for each of KEYS (a JSON string), what then stands in the line, as a JSON list.

SETUP is evaluated first. KEYS are typed into an empty line each."""
import json
import os
import pty
import select
import sys
import time

SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"],
             "bind -x '\"\\C-xl\": printf \"\\n<<%s>>\\n\" \"$READLINE_LINE\"'; bind 'set enable-bracketed-paste off'; PS1='ready> '"),
    "zsh": (["zsh", "-f", "-i"],
            "show-line() { print -r -- $'\\n'\"<<$BUFFER>>\" }; zle -N show-line; bindkey -e; bindkey '^Xl' show-line; PS1='ready> '; unsetopt zle_bracketed_paste 2>/dev/null"),
    "fish": (["fish", "--no-config", "-i"],
             "function fish_prompt; printf 'ready> '; end; bind \\cxl 'printf \"\\n<<%s>>\\n\" (commandline)'"),
}


class Terminal:
    def __init__(self, argv):
        self.text = ""
        pid, self.fd = pty.fork()
        if pid == 0:
            os.execvp(argv[0], argv)

    def read(self, seconds):
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            raise SystemExit("the shell has ended: " + self.text)
        self.text += data.decode("utf-8", "replace")
        # fish asks what kind of terminal this is and waits for an answer.
        if b"\x1b[c" in data or b"\x1b[0c" in data:
            self.write("\x1b[?62;c")
        if b"\x1b[6n" in data:
            self.write("\x1b[1;1R")
        return True

    def write(self, keys):
        os.write(self.fd, keys.encode())

    def wait_for(self, text, since, seconds=60):
        end = time.monotonic() + seconds
        while text not in self.text[since:]:
            if time.monotonic() > end:
                raise SystemExit(f"no {text!r} in {self.text[since:]!r}")
            self.read(0.2)

    def settle(self):
        """Until nothing has come for a while."""
        while self.read(0.5):
            pass


def main(shell, setup, *keys):
    argv, prepare = SHELLS[shell]
    terminal = Terminal(argv)
    terminal.settle()
    for line in (prepare, setup, "echo set-$((40+2))-up" if shell != "fish" else "echo set-(math 40+2)-up"):
        start = len(terminal.text)
        terminal.write(line + "\r")
        if line.startswith("echo"):
            terminal.wait_for("set-42-up", start)
        terminal.settle()
    lines = []
    for each in map(json.loads, keys):
        terminal.write("\x15")
        start = len(terminal.text)
        *completed, last = each.split("\t")
        for part in completed:
            if part:
                terminal.write(part)
                terminal.settle()
            terminal.write("\t")
            # The program answers after a moment in which nothing comes.
            time.sleep(float(os.environ.get("TERMINAL_DELAY", "0.7")))
            terminal.settle()
        terminal.write(last)
        terminal.write("\x18l")
        terminal.wait_for(">>", start)
        terminal.settle()
        text = terminal.text[start:]
        lines.append(text[text.rindex("<<") + 2:text.rindex(">>")].replace("\r", ""))
    print(json.dumps({"lines": lines, "text": terminal.text}))
    os.close(terminal.fd)


main(*sys.argv[1:])
