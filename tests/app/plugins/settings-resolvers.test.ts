import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { READY_RESOLVERS } from "../../../src/app/plugins/settings-resolvers.ts";
import { READY } from "../../../src/engine/values/resolution/call-resolver.ts";
import { program } from "../cli/program.ts";

/** What a config resolves to in a project with a settings file. */
async function resolved(files: Readonly<Record<string, string>>) {
  const app = program(files, { settingsFiles: true });
  let stdout = "";
  const told = await app.run(["hydra.run.dir=.", "hydra.output_subdir=null"], (config) => {
    stdout = config.toYaml({ resolve: true });
  });
  return { ...told, stdout, cwd: app.cwd };
}

const PYTHON = "python: python3\n";

test("errors about unknown resolvers know the ready ones", () => {
  expect([...READY]).toEqual(READY_RESOLVERS.map(({ name }) => name));
});

describe("ready resolvers", () => {
  test.each([
    ["eval", "${eval:'${a} * 2 + 1'}", "7"],
    ["multiply", "${multiply:${a},1.5}", "4.5"],
    ["times", "${times:${a},2}", "6"],
    ["divide", "${divide:${a},2}", "1.5"],
    ["eq", "${eq:${name},ADAM}", "true"],
    ["eq", "${eq:${a},3.0}", "true"],
    ["if", "${if:${eq:${a},3},${list},no}", "\n- 1\n- 2"],
    ["contains", "${contains:da,${name}}", "true"],
    ["contains", "${contains:2,${list}}", "true"],
    ["contains", "${contains:3,${list}}", "false"],
    ["resolve_default", "${resolve_default:7,${empty}}", "7"],
    ["resolve_default", "${resolve_default:7,${a}}", "3"],
  ])("%s: %s", async (name, text, value) => {
    const { stdout, stderr } = await resolved({
      "hydraconf.yaml": `resolvers: {${[...new Set([name, "eq"])].map((one) => `${one}: ready`)}}`,
      "conf/config.yaml": `a: 3\nname: Adam\nempty: ''\nlist: [1, 2]\nx: ${JSON.stringify(text)}\n`,
    });
    expect(stderr).toBe("");
    expect(stdout).toContain(value.startsWith("\n") ? `x:${value}\n` : `x: ${value}\n`);
  });

  test("are unknown until they are named", async () => {
    const { exitCode, stderr } = await resolved({ "conf/config.yaml": 'x: "${eval:1+1}"\n' });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("type eval")]);
  });

  test.each([
    ["resolvers: {evl: ready}", "There is no ready resolver 'evl'"],
    ["resolvers: {x: {from: ready, cached: true}}", "A resolver has no 'cached'"],
    ["resolvers: {x: {pure: true}}", "A resolver must say where it is from"],
    ["resolvers: {x: 3}", "A resolver must be a text, or a map"],
    ["resolvers: {x: somewhere}", "neither 'ready'"],
    ["resolvers: {x: 'python:os;'}", "names no Python function"],
    ["resolvers: {x: ./no.mjs}", "Cannot load the resolver 'x' from './no.mjs'"],
    ["sync: always", "`sync` must be note or renew"],
  ])("%s is refused with its place", async (settings, message) => {
    const { exitCode, stderr } = await resolved({
      "hydraconf.yaml": settings,
      "conf/config.yaml": "x: 1\n",
    });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(stderr).toContain("hydraconf.yaml:1:");
  });
});

describe("resolvers of a module", () => {
  test("are its exports", async () => {
    const { stdout, stderr } = await resolved({
      "hydraconf.yaml": "resolvers: {scale: ./own.mjs, lib.twice: './own.mjs#twice'}",
      "own.mjs": "export const scale = (x, by = 10) => x * by; export const twice = (x) => [x, x];",
      "conf/config.yaml": 'a: "${scale:4}"\nb: "${lib.twice:x}"\n',
    });
    expect([stdout, stderr]).toEqual(["a: 40\nb:\n- x\n- x\n", ""]);
  });

  test("one that it does not export is told", async () => {
    const { stderr } = await resolved({
      "hydraconf.yaml": "resolvers: {scale: ./own.mjs}",
      "own.mjs": "export const scales = 3;",
      "conf/config.yaml": "a: 1\n",
    });
    expect(stderr).toContain("'./own.mjs' exports no function 'scale' for the resolver 'scale'");
  });
});

const SOURCE = `
import os, pathlib
print("on import")
def double(x): return 2 * x
def kinds(*args): return [type(one).__name__ for one in args]
def back(x): return x
def fail(x):
    return 1 / x
def odd(): return object()
def asks(_parent_): return 1
def count():
    with open("calls", "a") as file: file.write("x")
    return len(open("calls").read())
def stop(): os._exit(3)
class lib:
    @staticmethod
    def path(): return pathlib.Path("/a/b")
`;

const ofPython = (names: string, config: string) =>
  resolved({
    "hydraconf.yaml": `${PYTHON}resolvers: {${names}}\n`,
    "own.py": SOURCE,
    "conf/config.yaml": config,
  });

describe("resolvers of Python", () => {
  test("get and return values with their types", async () => {
    const { stderr, stdout } = await ofPython(
      "double: python:own.double, kinds: python:own.kinds, back: python:own.back, p: python:own.lib.path, h: python:math.hypot",
      `
a: "\${double:\${n}}"
b: "\${kinds:1,1.0,true,null,x,[1],{a: 1}}"
c: "\${back:\${tree}}"
d: "\${back:[1.0,-inf,1e300,12345678901234567890,inf]}"
e: "\${double:'é'}"
f: "\${h:3,4}"
n: 12345678901234567890
tree: {x: [1, "\${n}"], y: {z: null}}
`,
    );
    expect(stderr).toBe("");
    expect(stdout).toBe(`a: 24691357802469135780
b:
- int
- float
- bool
- NoneType
- str
- list
- dict
c:
  x:
  - 1
  - 12345678901234567890
  'y':
    z: null
d:
- 1.0
- -.inf
- 1.0e+300
- 12345678901234567890
- .inf
e: éé
f: 5.0
'n': 12345678901234567890
tree:
  x:
  - 1
  - 12345678901234567890
  'y':
    z: null
`);
  });

  test("a path stays one", async () => {
    const { stdout } = await ofPython("p: python:own.lib.path", 'a: "${p:}"\n');
    expect(stdout).toContain("pathlib.PosixPath\n- /\n- a\n- b\n");
  });

  test.each([
    ["fail: python:own.fail", "${fail:0}", "ZeroDivisionError: division by zero (own.py:8)"],
    ["odd: python:own.odd", "${odd:}", "which no config can hold"],
    ["asks: python:own.asks", "${asks:}", "it asks for _parent_"],
    ["no: python:own.no", "${no:}", "has no attribute 'no'"],
    ["no: python:nowhere.no", "${no:}", "ModuleNotFoundError: No module named 'nowhere'"],
    ["stop: python:own.stop", "${stop:}", "could not be asked: it ended while it was asked"],
  ])("%s: %s says why it fails", async (names, text, message) => {
    const { exitCode, stderr } = await ofPython(names, `x: ${JSON.stringify(text)}\n`);
    const name = names.split(":")[0];
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(stderr).toContain(`Resolver '${name}' failed: `);
    expect(stderr).toContain("config.yaml:1");
  });

  test("a Python that is not there is named", async () => {
    const { stderr } = await resolved({
      "hydraconf.yaml": "python: /no/python\nresolvers: {double: python:own.double}\n",
      "conf/config.yaml": 'x: "${double:1}"\n',
    });
    expect(stderr).toContain("the Python '/no/python' could not be asked");
  });

  test("one is called for each reference, or once", async () => {
    const config = (name: string) => `a: "\${${name}:}"\nb: "\${${name}:}"\nc: "\${a}"\n`;
    const each = await ofPython("n: python:own.count", config("n"));
    expect(each.stdout).toBe("a: 1\nb: 2\nc: 3\n");
    for (const option of ["pure", "use_cache"]) {
      const once = await ofPython(`n: {from: python:own.count, ${option}: true}`, config("n"));
      expect(once.stdout).toBe("a: 1\nb: 1\nc: 1\n");
      expect(readFileSync(join(once.cwd, "calls"), "utf8")).toBe("x");
    }
  });

  test("what a module does not register is told", async () => {
    const { stderr } = await ofPython("lost: python:own", 'x: "${lost:1}"\n');
    expect(stderr).toContain("the module own registers no resolver 'lost'");
  });

  test("nothing is executed where none is needed", async () => {
    const app = program(
      {
        "hydraconf.yaml": "python: /no/python\nresolvers: {double: python:own.double}\n",
        "conf/config.yaml": 'x: "${double:1}"\n',
      },
      { settingsFiles: true, whenBare: "show" },
    );
    expect(await app.run([])).toMatchObject({ exitCode: 0, stdout: "x: ${double:1}\n" });
  });

  test("what a module registers is found by its name, and its program does not run", async () => {
    const { stdout, stderr, cwd } = await resolved({
      "hydraconf.yaml": `${PYTHON}resolvers: {twice: python:train}\n`,
      "omegaconf/__init__.py": `
class OmegaConf:
    @classmethod
    def register_new_resolver(cls, name, resolver, **options): pass
    @staticmethod
    def create(value): return value
`,
      "hydra/__init__.py": "from hydra.main import main",
      "hydra/main.py": "def main(*args, **kwargs):\n    return lambda task: lambda: task(None)\n",
      "train.py": `
import hydra
from omegaconf import OmegaConf
OmegaConf.register_new_resolver("twice", lambda x: 2 * x)
@hydra.main(config_path="conf")
def main(config): open("ran", "w").close()
main()
`,
      "conf/config.yaml": 'x: "${twice:21}"\n',
    });
    expect([stdout, stderr]).toEqual(["x: 42\n", ""]);
    expect(() => readFileSync(join(cwd, "ran"))).toThrow("ENOENT");
  });
});
