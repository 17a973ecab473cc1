/** The stubs of `hydraconf schema --stubs`, as mypy reads them. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { describe, expect, it } from "vitest";
import { runSchema } from "../../../../src/app/cli/tree-schema/schema-command.ts";
import { findExecutable } from "../../../../src/foundation/system/find-program.ts";
import { capturedConsole } from "../../../captured-console.ts";

function mypyOrSkip(): string | null {
  const found = findExecutable("mypy", process.cwd());
  if (found !== null) return found;
  console.warn(
    "SKIPPED the stubs of Python, as mypy reads them: there is no mypy here (Debian: mypy)",
  );
  return null;
}

const mypy = mypyOrSkip();

/** Files of a project, with the stubs of its tree in them. */
async function project(files: Readonly<Record<string, string>>): Promise<string> {
  const cwd = mkdtempSync(join(tmpdir(), "stubs-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  const { console, out } = capturedConsole();
  const args = ["--stubs"];
  const code = await runSchema(args, { argv: args, env: {}, cwd, console, now: new Date(0) });
  expect([code, out.stderr]).toEqual([0, ""]);
  return cwd;
}

/** What mypy says of each file, a line for each error. */
async function checked(cwd: string, ...files: readonly string[]): Promise<readonly string[]> {
  const cache = join(cwd, ".mypy_cache");
  const { stdout } = await execa(
    mypy ?? "mypy",
    ["--strict", "--no-error-summary", "--cache-dir", cache, ...files],
    { cwd, reject: false },
  );
  return stdout === "" ? [] : stdout.split("\n");
}

describe.skipIf(mypy === null)("stubs of a tree", () => {
  it("give the keys of a config their types", async () => {
    const cwd = await project({
      "conf/config.yaml":
        "defaults: [db: mysql, _self_]\nlr: 0.1\nsteps: 3\nname: null\njobs: [{name: a, size: 1}, {name: b}]\nmixed: [1, a]\nany: ???\nclass: x\n",
      "conf/db/mysql.yaml": "host: h\nport: 3306\n",
      "conf/db/pg.yaml": "host: h\nport: 5432\nssl: true\n",
      "right.py": `from config_types import ComposedConfig

def main(cfg: ComposedConfig) -> None:
    port: int = cfg.db.port
    lr: float = cfg.lr
    names = [job.name.upper() for job in cfg.jobs]
    print(port, lr, names, cfg["class"], cfg.get("a-b"), "x" in cfg, len(cfg), [key for key in cfg])
`,
      "wrong.py": `from config_types import ComposedConfig

def main(cfg: ComposedConfig) -> None:
    cfg.db.prot
    host: int = cfg.db.host
    cfg.nothing
`,
    });
    expect(await checked(cwd, "config_types.pyi", "right.py")).toEqual([]);
    expect(await checked(cwd, "wrong.py")).toEqual([
      expect.stringMatching(/^wrong\.py:4: error: "ComposedConfigDb" has no attribute "prot"/),
      expect.stringMatching(/^wrong\.py:5: error: Incompatible types .*expression has type "str"/),
      expect.stringMatching(/^wrong\.py:6: error: "ComposedConfig" has no attribute "nothing"/),
    ]);
  }, 240_000);

  it("hold for keys that are names of types, of Python itself or of other classes", async () => {
    const cwd = await project({
      "conf/config.yaml": `int: 1
str: {str: a, other: b}
List: [1]
Any: ???
Optional: null
Union: [1, a]
x: 1
y: [{int: 1, z: 2}]
bool: true
flag: false
float: 0.5
__init__: 1
__len__: 2
__private: 3
_target_: a.B
self: 1
a_b: {c: 1}
aB: {d: 1}
a: {b: {e: 1}}
é: 1
1: one
print: 1
object: 1
type: x
`,
      "right.py": `from config_types import ComposedConfig

def main(cfg: ComposedConfig) -> None:
    number: int = cfg.int + cfg.x + cfg.a_b.c + cfg.aB.d + cfg.a.b.e + cfg.self
    text: str = cfg.str.str + cfg.str.other + cfg._target_ + cfg.type
    items: int = cfg.y[0].int + cfg.y[0].z + cfg.List[0]
    flags: bool = cfg.bool and cfg.flag
    print(number, text, items, flags, cfg.float, len(cfg), cfg["__private"])
`,
    });
    expect(await checked(cwd, "config_types.pyi", "right.py")).toEqual([]);
  }, 240_000);
});
