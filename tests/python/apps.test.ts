import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { errorText } from "../../src/engine/values/error-text.ts";
import { appsIn, findApps, namedApp, searchApp, severalApps } from "../../src/python/apps.ts";
import { adaptToProject, treeOptions } from "../../src/python/project.ts";

function project(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-apps-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** What one Python file says, with paths relative to its folder. */
function read(source: string, env: Readonly<Record<string, string>> = {}) {
  const folder = project({ "src/train.py": source, ".project-root": "" });
  return appsIn(join(folder, "src/train.py"), { cwd: folder, env }).map(
    ({ configName, configPath, kind, unread, versionBase, ...app }) => [
      kind,
      configPath?.replace(`${folder}/`, "") ?? null,
      configName,
      versionBase,
      ...(unread === undefined ? [] : [unread.message]),
      ...(app.env["PROJECT_ROOT"] === folder ? ["root"] : []),
    ],
  );
}

describe("what a Python source says of its configs", () => {
  test.each([
    [
      'import hydra\n@hydra.main(version_base=None, config_path="conf", config_name="c")',
      ["main", "src/conf", "c", null],
    ],
    ['import hydra as h\n@h.main("conf", "c.yaml", "1.2")', ["main", "src/conf", "c.yaml", "1.2"]],
    [
      'from hydra import main as run\n@run(config_path="../configs", config_name="c", version_base="1.3")',
      ["main", "configs", "c", "1.3"],
    ],
    ['import os, \\\n  hydra as h\nh.main (config_name="c")(f)', ["main", "src", "c", undefined]],
    [
      'from hydra import (\n  main as run,\n)\n@run(config_name="c")',
      ["main", "src", "c", undefined],
    ],
    [
      "import hydra\nentry = hydra.main\n@ hydra . main\ndef f(c): pass",
      ["main", null, null, undefined, "@hydra.main is not called"],
    ],
    ['\ufeffimport hydra\n@hydra.main(config_name="c")', ["main", "src", "c", undefined]],
    ['from hydra.main import main\n@main(config_name="c")', ["main", "src", "c", undefined]],
    [
      'from hydra import (  # see (1): a = 1\n  compose, main)\nmain(config_name="c")(f)',
      ["main", "src", "c", undefined],
    ],
    [
      'import sys, \\\n  os\nimport hydra.main\nhydra.main . main(config_name="c")(f)',
      ["main", "src", "c", undefined],
    ],
    ['import hydra\n@hydra.main(version_base="1.2", config_name="c")', ["main", null, "c", "1.2"]],
    [
      'import hydra\n@hydra.main(config_path=None, config_name="c", version_base="1.1")',
      ["main", null, "c", "1.1"],
    ],
    [
      'import hydra\nif True:\n    @hydra.main(\n        config_path="a" "b",  # comment )\n        config_name=f"c",\n    )\n    def f(): pass',
      ["main", "src/ab", "c", undefined],
    ],
    [
      'import hydra, os\nDIR = os.path.join(os.path.dirname(__file__), "..", "conf")\nNAME: str = "c"\n@hydra.main(config_path=DIR, config_name=NAME, version_base=None)',
      ["main", "conf", "c", null],
    ],
    [
      'import hydra\nfrom pathlib import Path\nROOT = Path(__file__).resolve().parents[1]\nP = {"config_path": str(ROOT / "conf"), "config_name": "c", "version_base": "1.3"}\n@hydra.main(**P)',
      ["main", "conf", "c", "1.3"],
    ],
    [
      'import os, hydra\n@hydra.main(config_path=os.environ.get("DIR", "conf"), config_name=os.getenv("NAME", "c"), version_base=None)',
      ["main", "src/conf", "given", null],
    ],
    [
      'import rootutils\nimport hydra\nroot = rootutils.setup_root(__file__, indicator=".project-root", pythonpath=True)\n@hydra.main(config_path=f"{root}/conf", config_name="c", version_base=None)',
      ["main", "conf", "c", null, "root"],
    ],
    [
      'import hydra\nhydra.main(config_path="conf", config_name="c", version_base=None)(run)()',
      ["main", "src/conf", "c", null],
    ],
    [
      'from hydra import compose, initialize\nwith initialize(version_base=None, config_path="../conf"):\n    cfg = compose(config_name="c", overrides=["a=1"])',
      ["compose", "conf", "c", null],
    ],
    [
      'from hydra import compose, initialize\nwith initialize():\n    cfg = compose(config_name="c")',
      ["compose", "src", "c", undefined],
    ],
    [
      'from hydra import compose, initialize\ninitialize(version_base="1.1")\ncompose("c")',
      ["compose", "src", "c", "1.1"],
    ],
    [
      'from hydra import compose, initialize\ninitialize(version_base="1.2")\ncompose("c")',
      ["compose", null, "c", "1.2"],
    ],
    [
      'from hydra import compose, initialize\ninitialize(None)\ncompose("c")',
      ["compose", null, "c", undefined],
    ],
    [
      'from hydra import compose, initialize_config_dir\ninitialize_config_dir()\ncompose("c")',
      ["compose", null, "c", undefined],
    ],
    [
      'from hydra import compose, initialize_config_module\ninitialize_config_module("pkg.conf", version_base="1.1")\ncompose("c")',
      ["compose", "pkg://pkg.conf", "c", "1.1"],
    ],
    [
      'from hydra import compose, initialize_config_dir\ninitialize_config_dir(config_dir="/etc/conf", version_base=None)\ncompose("c")',
      ["compose", "/etc/conf", "c", null],
    ],
    [
      'from hydra import compose, initialize_config_search_path\nwith initialize_config_search_path(["caller://conf", "pkg://shared"], version_base=None):\n    compose("c")',
      [
        "compose",
        null,
        null,
        null,
        "initialize_config_search_path takes several config directories",
      ],
    ],
  ])("%s", (source, expected) => {
    expect(read(source, { NAME: "given" })).toEqual([expected]);
  });

  test.each([
    ["pathlib.Path(__file__).stem", "train"],
    ['pathlib.Path(__file__).resolve().with_suffix("").name', "train"],
    ["os.path.splitext(os.path.basename(__file__))[0]", "train"],
    ['os.path.basename(__file__).split(".")[0]', "train"],
    ['os.path.basename(__file__).split(".")[-2]', "train"],
    ['os.path.basename(__file__).removesuffix(".py")', "train"],
    ['os.path.basename(__file__).replace(".py", "_v2")', "train_v2"],
    ['pathlib.Path("a/b.c.txt").with_stem("d").name', "d.txt"],
    ['pathlib.Path("a/b.c.txt").with_name("d.yaml").stem', "d"],
    ['"c" + pathlib.Path("a/b.c.txt").suffix', "c.txt"],
  ])("config_name=%s", (name, expected) => {
    const source = `import hydra, os, pathlib\n@hydra.main("conf", config_name=${name}, version_base=None)`;
    expect(read(source)).toEqual([["main", "src/conf", expected, null]]);
  });

  test.each([
    ['__file__.split(".")', '__file__.split(".")'],
    ['__file__.split(".")[9]', '__file__.split(".")[9]'],
    ['__file__.split(".")[f()]', '__file__.split(".")[f()]'],
    ["os.path.splitext(__file__)", "os.path.splitext(__file__)"],
  ])("config_name=%s stays unread", (name, shown) => {
    const [found] = read(`import hydra, os\n@hydra.main("conf", config_name=${name})`);
    expect(found?.[4]).toBe(
      `config_name of hydra.main cannot be read without running Python: ${shown}`,
    );
  });

  test.each([
    [
      'import hydra\n@hydra.main(config_path=find(), config_name="c")',
      "config_path of hydra.main cannot be read without running Python: find()",
    ],
    ["import hydra\n@hydra.main(**options())", "its arguments of hydra.main cannot be read"],
    ["import hydra\n@hydra.main\ndef f(): pass", "@hydra.main is not called"],
  ])("says what it cannot read: %s", (source, message) => {
    expect(read(source)[0]?.[4]).toContain(message);
  });

  const DECLARED = '@hydra.main(version_base=None, config_path="conf", config_name="c")';
  test.each([
    [
      "an open call",
      '@hydra.main(config_path="conf"\ndef f(cfg):\n    pass\n',
      2,
      "'(' is never closed",
    ],
    [
      "a wrong bracket",
      `${DECLARED}\ndef f(cfg):\n    x = (1,\n      2]\n`,
      5,
      "']' does not close '(' of line 4",
    ],
    ["a bracket too many", `x = 1)\n${DECLARED}\ndef f(cfg): pass\n`, 2, "')' closes nothing"],
    ["an open string", `x = "abc\n${DECLARED}\ndef f(cfg): pass\n`, 2, "a string is never closed"],
    ["no colon", `${DECLARED}\ndef f(cfg)\n    pass\n`, 3, "'def' lacks its ':'"],
    [
      "no function",
      `${DECLARED}\nx = 1\n`,
      2,
      "a decorator stands before neither a function nor a class",
    ],
  ])("names the line of a syntax error: %s", (_, source, line, message) => {
    const folder = project({ "train.py": `import hydra\n${source}` });
    const [app] = appsIn(join(folder, "train.py"), { cwd: folder, env: {} });
    expect(app?.isBroken).toBe(true);
    expect(app?.unread?.message).toContain(`train.py has a syntax error: ${message}`);
    expect(errorText(app?.unread?.details ?? { code: "app.job", message: "" })).toContain(
      `train.py:${line}:`,
    );
  });

  test.each([
    [`f"{d["k"] + "("}"`],
    [`f"{x["it's"]}"`],
    [`f"{x:'>10}"`],
    [`f'{{(' + f"{x!r:{w}}"`],
    [`f'''{\n'}' + x["("]}'''`],
    [`rf'\\d{{2}}(' f"{x:%H:%M}"`],
    [`"a \\\r\n(b"`],
    ["lambda x: {1: 2}[x]"],
    ["[a if b else c for d in e]"],
  ])("takes no Python for a syntax error: %s", (expression) => {
    const source = `import hydra\nx = ${expression}\n${DECLARED}\nasync def f(cfg): return x\nif (y := 1) > 0: pass\n`;
    expect(read(source)).toEqual([["main", "src/conf", "c", null]]);
  });

  test.each([
    ["# import hydra\n'''@hydra.main(config_path=\"conf\")'''\nx = 'hydra.main()'"],
    ["main(config_path='hydra')"],
    ["import hydra\nprint(hydra.__version__)"],
    ["\u0000\u{1f600} hydra (((]]] '"],
  ])("finds no program in %j", (source) => {
    expect(read(source)).toEqual([]);
  });

  test("a program of hydraMain", () => {
    const folder = project({
      "app.ts":
        'import { hydraMain } from "hydraconf";\nawait hydraMain({ name: "mine", configPath: "conf", configName: "c" }, task);\n',
    });
    expect(appsIn(join(folder, "app.ts"), { cwd: folder, env: {} })).toEqual([
      {
        kind: "script",
        file: join(folder, "app.ts"),
        line: 2,
        name: "mine",
        configPath: join(folder, "conf"),
        configName: "c",
        versionBase: null,
        env: {},
      },
    ]);
  });
});

describe("the programs of a project", () => {
  const main = (name: string) =>
    `import hydra\n@hydra.main(version_base=None, config_path="conf", config_name="${name}")\ndef f(cfg): pass\n`;

  test("are not those of virtual environments, tests and hidden folders", () => {
    const folder = project({
      "src/train.py": main("a"),
      "mine/pyvenv.cfg": "",
      "mine/lib/x.py": main("b"),
      ".venv/x.py": main("c"),
      "tests/x.py": main("d"),
      "node_modules/x.py": main("e"),
    });
    const place = { cwd: folder, env: {} };
    expect(findApps(folder, place).map(({ configName }) => configName)).toEqual(["a"]);
  });

  test("are one where they have one config, else several", () => {
    const same = project({ "a.py": main("x"), "b.py": main("x") });
    expect(searchApp({ cwd: same, env: {} }, {})).toMatchObject({
      kind: "found",
      app: { name: "a" },
    });
    const others = project({ "a.py": main("x"), "b.py": main("y") });
    expect(searchApp({ cwd: others, env: {} }, {})).toMatchObject({ kind: "several" });
    expect(searchApp({ cwd: project({}), env: {} }, {})).toEqual({ kind: "none" });
  });

  test("are found behind many comments, and by each way to import main", () => {
    const comments = "# a plain comment, of words alone\n".repeat(100);
    const decorated = (by: string) =>
      `@${by}(config_path="conf", config_name="x")\ndef f(cfg): pass\n`;
    const found = (source: string) => {
      const folder = project({ "a.py": source });
      return findApps(folder, { cwd: folder, env: {} }).map(({ configName }) => configName);
    };
    for (const source of [
      `import hydra\n${comments}${decorated("hydra.main")}`,
      `from hydra import main\n${comments}${decorated("main")}`,
      `from hydra import (\n    compose,  # for tests (only)\n    main,\n)\n${comments}${decorated("main")}`,
      `from hydra import compose, \\\n    main\n${decorated("main")}`,
      `from hydra import main as start\n${decorated("start")}`,
    ])
      expect([source, found(source)]).toEqual([source, ["x"]]);
    // A search that tries each split of the comments would not end.
    expect(found(`import hydra\n${comments}x = 1\n`)).toEqual([]);
  });

  test("are looked for up to the second config where the others make no difference", () => {
    const folder = project({
      "a.py": main("x"),
      "b.py": "from hydra import initialize\ninitialize(config_path='other')\n",
      "c.py": main("x"),
      "src/d.py": main("y"),
      "src/e.py": main("z"),
    });
    const names = (listsAll: boolean) => {
      const found = searchApp({ cwd: folder, env: {} }, {}, { listsAll });
      return found.kind === "several" ? found.apps.map(({ name }) => name) : found.kind;
    };
    expect(names(true)).toEqual(["a", "c", "d", "e"]);
    expect(names(false)).toEqual(["a", "c", "d"]);
    const one = project({ "a.py": main("x"), "b.py": main("x") });
    expect(searchApp({ cwd: one, env: {} }, {}, { listsAll: false }).kind).toBe("found");
  });

  test("are files with a name before the ending, wherever they are searched for", () => {
    const folder = project({ ".py": main("a"), "src/b.py": main("b"), "src/b.pyc": main("c") });
    const place = { cwd: folder, env: {} };
    const files = findApps(`${folder}/src/../`, place).map(({ file }) => file);
    expect(files).toEqual([join(folder, "src/b.py")]);
  });

  test("those of the settings count more than their sources", () => {
    const folder = project({ "a.py": main("x") });
    const place = { cwd: folder, env: {} };
    const origin = { kind: "file", source: { name: "s", text: "" }, start: 0, end: 0 } as const;
    const apps = { a: { file: join(folder, "a.py"), origin, config_name: "z", config_path: null } };
    expect(namedApp({ folder, text: "a" }, place, { apps })).toMatchObject({
      configName: "z",
      configPath: null,
    });
    expect(() => namedApp({ folder, text: "b" }, place, { apps })).toThrow(
      "There is no program 'b'",
    );
    expect(namedApp({ folder, text: "a.py" }, place, { apps }).configName).toBe("z");
    const gone = { gone: { file: join(folder, "gone.py"), origin } };
    expect(() => namedApp({ folder, text: "gone" }, place, { apps: gone })).toThrow(
      /There is no program '.*gone.py'/,
    );
  });

  test("are listed with their configs where it is not clear which is meant", () => {
    const folder = project({
      "a.py":
        "import hydra, sys\n@hydra.main(config_path=sys.argv[1], config_name='x')\ndef f(cfg): pass\n",
      "b.py":
        'import hydra\n@hydra.main(config_path="pkg://lib.conf", config_name="x")\ndef f(cfg): pass\n',
      "c.py": main("y"),
    });
    const found = searchApp({ cwd: folder, env: {} }, {});
    const { details, message } = severalApps(found.kind === "several" ? found.apps : [], folder);
    expect(message.split("\n").slice(1)).toEqual([
      "  a.py  (its config cannot be read without running it)",
      "  b.py  (pkg://lib.conf, x)",
      "  c.py  (conf, y)",
    ]);
    expect(details.hint).toContain("choose one: --app b.py;");
  });
});

describe("a program that names no version_base", () => {
  const notes = (source: string, flags: readonly (readonly [string, string])[] = []) => {
    const folder = project({ "train.py": source });
    const [app] = appsIn(join(folder, "train.py"), { cwd: folder, env: {} });
    const invocation = { cwd: folder, console: { stdout: () => {}, stderr: () => {} } };
    const call = { invocation, parsed: { flags: new Map(flags), overrides: [] }, settings: {} };
    return treeOptions(app, call as never, {}).notes;
  };

  test("gets a note, unless the command line says it", () => {
    const open = 'import hydra\n\n@hydra.main(config_path="conf")\ndef main(cfg): pass\n';
    expect(notes(open)).toEqual([expect.stringMatching(/^train\.py:3: .* names no version_base/)]);
    expect(notes(open, [["version-base", "1.3"]])).toBeUndefined();
  });

  test.each(['"1.1"', '"1.3"', "None"])("gets none with version_base=%s", (base) => {
    const source = `import hydra\n@hydra.main("conf", version_base=${base})\ndef main(cfg): pass\n`;
    expect(notes(source)).toBeUndefined();
  });
});

describe("a program below a directory with a default config of its own", () => {
  const tree = { "conf/config.yaml": "lr: 1\n", "examples/c/x.yaml": "b: 2\n" };
  const main = (name: string) =>
    `import hydra\n@hydra.main(version_base=None, config_path="c", config_name=${name})\ndef f(cfg): pass\n`;
  const adapted = (
    files: Readonly<Record<string, string>>,
    flags: readonly (readonly [string, string])[] = [],
    settings = {},
  ) => {
    const folder = project(files);
    const console = { stdout: () => {}, stderr: () => {} };
    const invocation = { argv: [], cwd: folder, console, env: {} };
    const parsed = { flags: new Map(flags), overrides: [] };
    return adaptToProject({ invocation, parsed, settings } as never);
  };
  const note = expect.stringContaining(
    "the configs of examples/app.py are composed, not conf/config.yaml of this directory: -cp conf",
  );

  test("counts more, and a note names both", async () => {
    const files = { ...tree, "examples/app.py": main('"x"') };
    expect((await adapted(files)).notes).toEqual([note]);
    expect((await adapted(files, [["app", "examples/app.py"]])).notes).toBeUndefined();
    const named = await adapted(files, [["config-path", "conf"]]);
    expect([named.notes, named.options?.configName]).toEqual([undefined, undefined]);
  });

  test("whose config is unknown: the error says how to compose the other one", async () => {
    const files = { ...tree, "examples/app.py": main("NAME") };
    await expect(adapted(files)).rejects.toThrow(
      expect.objectContaining({
        details: expect.objectContaining({
          hint: expect.stringMatching(/; for conf\/config\.yaml here: -cp conf$/),
        }),
      }),
    );
  });

  test("with the same configs gets no note", async () => {
    const files = { ...tree, "src/app.py": main('"config"').replace('"c"', '"../conf"') };
    expect((await adapted(files)).notes).toBeUndefined();
  });
});
