import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect, test } from "vitest";
import { program } from "./program.ts";

const LIBRARY = fileURLToPath(new URL("../../../dist/index.js", import.meta.url));

test.each([
  ["awaited at the top", "process.exitCode = await main();"],
  ["not awaited", "main().then((code) => { process.exitCode = code; });"],
])("a task that nothing can end any more is told, %s", async (_, call) => {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-lost-"));
  writeFileSync(
    join(cwd, "train.mjs"),
    `import { hydraMain } from ${JSON.stringify(LIBRARY)};
     const main = () => hydraMain({}, () => new Promise(() => {}));
     ${call}`,
  );
  const { exitCode, stderr } = await execa(process.execPath, ["train.mjs", "hydra.run.dir=o"], {
    cwd,
    reject: false,
  });
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("ended before its task did")]);
});

test("nothing is watched any more when the program goes on", async () => {
  const before = process.listenerCount("beforeExit");
  const { run } = program({ "conf/config.yaml": "x: 1\n" });
  await run(["hydra.run.dir=o"]);
  await run(["--cfg", "jb"]);
  await run(["y=1"]);
  expect(process.listenerCount("beforeExit")).toBe(before);
});
