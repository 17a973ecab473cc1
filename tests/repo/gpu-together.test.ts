import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const scripts = fileURLToPath(new URL("../../scripts", import.meta.url));

/** What a Python program with `together` prints. */
function python(lines: readonly string[]): string {
  const program = ["from gpu.together import together", ...lines].join("\n");
  const { stdout, stderr } = spawnSync("python3", ["-c", program], {
    encoding: "utf8",
    env: { ...process.env, PYTHONPATH: scripts, PYTHONDONTWRITEBYTECODE: "1" },
  });
  expect(stderr).toBe("");
  return stdout;
}

it("gives the results in order", () => {
  expect(python(["print(together([lambda: 1, lambda: 2, lambda: 3], 2))"])).toBe("[1, 2, 3]\n");
});

it("raises a failure when all have ended", () => {
  const lines = [
    "done = []",
    "try:",
    "    together([lambda: 1 / 0, lambda: done.append(1), lambda: done.append(2)], 2)",
    "except ZeroDivisionError:",
    "    print(sorted(done))",
  ];
  expect(python(lines)).toBe("[1, 2]\n");
});

// The kernel may give a signal to any thread, and then nothing wakes the one that waits.
it("hears a signal that another thread got while it waits", () => {
  const lines = [
    "import signal, threading, time",
    "heard = threading.Event()",
    "signal.signal(signal.SIGTERM, lambda *_: heard.set())",
    "def action():",
    "    time.sleep(0.2)",
    "    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)",
    "    return heard.wait(60)",
    "print(together([action], 1))",
  ];
  expect(python(lines)).toBe("[True]\n");
});
