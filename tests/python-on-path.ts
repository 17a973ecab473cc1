import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

/**
 * Version managers such as pyenv put a shell script on PATH where Python should be, which starts some forty programs before it. Tests
 * start Python hundreds of times: they find what the script would start.
 */
export function setup(): void {
  const path = process.env["PATH"] ?? "";
  const found = path
    .split(delimiter)
    .map((folder) => join(folder, "python3"))
    .find(existsSync);
  if (found === undefined || readFileSync(found, "latin1").slice(0, 2) !== "#!") return;
  const asked = spawnSync(found, ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" });
  if (asked.status === 0)
    process.env["PATH"] = `${dirname(asked.stdout.trim())}${delimiter}${path}`;
}
