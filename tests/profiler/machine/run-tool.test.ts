import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { askTool } from "../../../src/profiler/machine/run-tool.ts";
import { eventually } from "../../wait.ts";

it("a slow tool is reported, with what it has written so far; it has no time limit", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tool-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [output, end] = [join(folder, "output"), join(folder, "end")];
  writeFileSync(output, Buffer.alloc(3_400_000));
  const said: string[] = [];
  const stop = new AbortController().signal;
  const ended = askTool(
    { argv: ["sh", "-c", `until [ -e '${end}' ]; do sleep 0.05; done; echo done`] },
    { doing: "exporting", output },
    { stop, say: (line) => said.push(line), everyMs: 1 },
  );
  await eventually(() => expect(said).toContain("still exporting: 0 min, 3 MB written"));
  rmSync(output);
  await eventually(() => expect(said.at(-1)).toBe("still exporting: 0 min"));
  expect(existsSync(end)).toBe(false);
  writeFileSync(end, "");
  expect(await ended).toMatchObject({ failed: false, stdout: "done\n" });
  const before = said.length;
  await new Promise((done) => setImmediate(done));
  expect(said).toHaveLength(before);
});

it("a tool is stopped with a signal, and need not have begun", async () => {
  const control = { stop: AbortSignal.abort("SIGTERM"), say: () => {} };
  const argv = ["sh", "-c", "while :; do sleep 1; done"];
  expect(await askTool({ argv }, { doing: "hanging" }, control)).toMatchObject({
    isGivenUp: true,
    signal: "SIGTERM",
  });
});
