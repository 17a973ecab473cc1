"""python3 terminal.py SHELL SETUP KEYS...: types keys into an interactive shell in a terminal and
prints, for each of KEYS (a JSON string), what then stands in the line, as a JSON list.

SETUP is evaluated first. KEYS are typed into an empty line each. Nothing here goes by time: a key that makes
the shell print its line is typed behind each completion, and takes its turn when that is done."""
import json
import os
import pty
import re
import select
import sys
import time

PROMPT = "ready> "
SHOW = "\x18l"

# How each starts, what makes SHOW print the line as <<LINE>>, and a text that only running it prints.
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"],
             "bind -x '\"\\C-xl\": printf \"\\n<<%s>>\\n\" \"$READLINE_LINE\"'; bind 'set enable-bracketed-paste off'",
             "echo step-$((40+{step}))-done"),
    "zsh": (["zsh", "-f", "-i"],
            "show-line() { print -r -- $'\\n'\"<<$BUFFER>>\" }; zle -N show-line; bindkey -e; bindkey '^Xl' show-line; unsetopt zle_bracketed_paste 2>/dev/null",
            "echo step-$((40+{step}))-done"),
    "fish": (["fish", "--no-config", "-i", "--init-command", f"function fish_prompt; printf '{PROMPT}'; end"],
             "bind \\cxl 'printf \"\\n<<%s>>\\n\" (commandline)'",
             "echo step-(math 40+{step})-done"),
}


class Terminal:
    def __init__(self, argv):
        self.text = ""
        pid, self.fd = pty.fork()
        if pid == 0:
            os.environ["PS1"] = PROMPT
            os.execvp(argv[0], argv)

    def read(self):
        ready, _, _ = select.select([self.fd], [], [], 1)
        if not ready:
            return
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

    def write(self, keys):
        os.write(self.fd, keys.encode())

    def wait_for(self, text, since, seconds=240):
        """Where `text` ends."""
        end = time.monotonic() + seconds
        while (at := self.text.find(text, since)) < 0:
            if time.monotonic() > end:
                raise SystemExit(f"no {text!r} in {self.text[since:]!r}")
            self.read()
        return at + len(text)

    def shown(self):
        """The line, once all keys before have done their work."""
        start = len(self.text)
        self.write(SHOW)
        end = self.wait_for(">>", self.wait_for("<<", start))
        return re.search(r"<<(.*)>>$", self.text[start:end], re.DOTALL)[1].replace("\r", "")


def main(shell, setup, *keys):
    argv, prepare, say = SHELLS[shell]
    terminal = Terminal(argv)
    terminal.wait_for(PROMPT, 0)
    for step, line in enumerate((prepare, setup)):
        start = len(terminal.text)
        terminal.write(f"{line}; {say.format(step=step)}\r")
        terminal.wait_for(PROMPT, terminal.wait_for(f"step-{40 + step}-done", start))
    lines = []
    for each in map(json.loads, keys):
        terminal.write("\x15")
        *completed, last = each.split("\t")
        for part in completed:
            terminal.write(part + "\t")
            terminal.shown()
        terminal.write(last)
        lines.append(terminal.shown())
    print(json.dumps({"lines": lines, "text": terminal.text}))
    os.close(terminal.fd)


main(*sys.argv[1:])
