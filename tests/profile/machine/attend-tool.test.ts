import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect, it, onTestFinished } from "vitest";
import { attendTool } from "../../../src/profile/machine/attend-tool.ts";
import { eventually } from "../../wait.ts";

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), "tool-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

const start = (script: string) =>
  execa("sh", ["-c", script], { reject: false, detached: true, cleanup: false, all: true });

it("a tool that ignores signals is ended with what it started, which holds its output open", async () => {
  const folder = temporary();
  const stop = new AbortController();
  const pidFile = join(folder, "pid");
  const child = start(
    `trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo $! > '${pidFile}'; wait`,
  );
  const ended = attendTool(child, { doing: "hanging" }, { stop: stop.signal, say: () => {} });
  const pid = await eventually(() => {
    const text = readFileSync(pidFile, "utf8");
    expect(text).toMatch(/\n/);
    return Number(text);
  });
  stop.abort("SIGINT");
  expect(await ended).toMatchObject({ failed: true, signal: "SIGKILL" });
  await eventually(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"));
});

it("one goes with the process that waits for it, however that ends", async () => {
  const script = `
    import { execa } from "execa";
    import { attendTool } from "./src/profile/machine/attend-tool.ts";
    const tool = execa("sh", ["-c", "trap '' TERM; echo $$; while :; do sleep 1; done"], {
      reject: false, detached: true, cleanup: false,
    });
    tool.stdout.once("data", (pid) => process.stdout.write(pid, () => process.exit(3)));
    await attendTool(tool, { doing: "hanging" }, { stop: new AbortController().signal, say: () => {} });
  `;
  const root = fileURLToPath(new URL("../../..", import.meta.url));
  const { exitCode, stdout } = await execa(
    process.execPath,
    ["--import", "./scripts/typescript-loader.mjs", "--input-type=module", "-e", script],
    { cwd: root, reject: false },
  );
  expect(exitCode).toBe(3);
  const pid = Number(stdout);
  expect(pid).toBeGreaterThan(1);
  await eventually(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"));
});

it("one that is started when all is over already ends, too", async () => {
  const child = start("while :; do sleep 1; done");
  const patience = { stop: AbortSignal.abort("SIGTERM"), say: () => {} };
  expect(await attendTool(child, { doing: "hanging" }, patience)).toMatchObject({
    signal: "SIGTERM",
  });
});

it("a slow tool is reported, with what it has written so far; it has no time limit", async () => {
  const folder = temporary();
  const [output, end] = [join(folder, "output"), join(folder, "end")];
  writeFileSync(output, Buffer.alloc(3_400_000));
  const said: string[] = [];
  const stop = new AbortController().signal;
  const ended = attendTool(
    start(`until [ -e '${end}' ]; do sleep 0.05; done; echo done`),
    { doing: "exporting", output },
    { stop, say: (line) => said.push(line), everyMs: 1 },
  );
  await eventually(() => expect(said).toContain("still exporting: 0 min, 3 MB written"));
  rmSync(output);
  await eventually(() => expect(said.at(-1)).toBe("still exporting: 0 min"));
  expect(existsSync(end)).toBe(false);
  writeFileSync(end, "");
  expect(await ended).toMatchObject({ failed: false, all: "done" });
  const before = said.length;
  await new Promise((done) => setImmediate(done));
  expect(said).toHaveLength(before);
});

it("one that cannot be started is told as such", async () => {
  const child = execa("/nowhere/tool", { reject: false, detached: true, cleanup: false });
  const patience = { stop: AbortSignal.abort(), say: () => {} };
  expect(await attendTool(child, { doing: "nothing" }, patience)).toMatchObject({ code: "ENOENT" });
});
