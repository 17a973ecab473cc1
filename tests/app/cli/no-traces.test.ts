import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { program } from "./program.ts";

const CONFIG = {
  "conf/config.yaml": "defaults:\n  - db: a\n  - _self_\nx: 1\n",
  "conf/db/a.yaml": "host: h\n",
};

// What only shows leaves no run directory, no log and no cache, whether it succeeds or not.
test.each([
  [["--cfg", "all", "--resolve"]],
  [["--cfg", "job", "--origins", "--json"]],
  [["--cfg", "hydra", "hydra.verbose=true"]],
  [["--info"]],
  [["--info", "searchpath"]],
  [["--help"]],
  [["--help", "db", "x"]],
  [["--hydra-help"]],
  [["--version"]],
  [["--explain", "x"]],
  [["--diff", "x=2"]],
  [["--dry-run", "-m", "x=1,2"]],
  [["--schema"]],
  [["--cfg", "job", "db=nope"]],
  [["--info", "db=nope"]],
  [["--nope"]],
  [["x=1,2"]],
  [["-m", "x=interval(0,1)"]],
  [["-m", "hydra/launcher=rq"]],
])("%j writes nothing", async (argv) => {
  const { run, cwd } = program(CONFIG);
  const { stdout, stderr } = await run(argv, () => expect.unreachable());
  expect(stdout + stderr).not.toBe("");
  expect(readdirSync(cwd, { recursive: true }).sort()).toEqual([
    "conf",
    "conf/config.yaml",
    "conf/db",
    "conf/db/a.yaml",
  ]);
});
