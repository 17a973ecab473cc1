import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { runMain } from "../../src/app/cli/main.ts";
import { pythonResolvers } from "../../src/app/plugins/python/python-resolvers.ts";
import { ConfigError } from "../../src/engine/values/errors.ts";
import { child } from "../../src/engine/values/node.ts";
import { appsIn } from "../../src/python/apps.ts";
import { currentStore, storeOf, syncStore } from "../../src/python/store-export.ts";
import { capturedConsole } from "../captured-console.ts";
import { refusal } from "../engine/compose/in-memory.ts";
import { corpusDir } from "../shared.ts";

/** What `hydraconf python sync` wrote of the corpus's programs with the real Hydra. */
const EXPORTS = fileURLToPath(new URL("../fixtures/python-store", import.meta.url));
const CORPUS = corpusDir("conformance-python");

interface Case {
  readonly id: string;
  readonly argv: readonly string[];
  readonly exit_code: number;
  readonly stdout: string;
}

/** What the programs register themselves, without what they import for it. */
const REGISTERED = `
twice = lambda x: 2 * x
join = lambda *a: "-".join(str(x) for x in a)
table = lambda name: {"small": [1, 2], "big": [10, 20]}[name]
`;

/** As `resolvers` in hydraconf.yaml names them. */
function registered(cwd: string) {
  writeFileSync(join(cwd, "registered.py"), REGISTERED);
  const functions = ["twice", "join", "lib.table"].map((name) => ({
    name,
    path: `registered.${name.replace("lib.", "")}`,
    isPure: false,
    useCache: false,
  }));
  const env = { PATH: process.env["PATH"] };
  return pythonResolvers(functions, { python: "python3", cwd, env, folders: [] });
}

describe("programs that register their configs in Python", () => {
  const programs = readdirSync(EXPORTS).map((file) => file.replace(/\.json$/, ""));
  test.each(programs)("%s prints what it prints with Hydra", async (name) => {
    const cwd = mkdtempSync(join(tmpdir(), "hydraconf-store-"));
    cpSync(join(CORPUS, name), cwd, { recursive: true });
    const store = storeOf(readFileSync(join(EXPORTS, `${name}.json`), "utf8"));
    const [app] = appsIn(join(cwd, "app.py"), { cwd, env: {} });
    const lines = readFileSync(join(CORPUS, name, "cases.jsonl"), "utf8")
      .trim()
      .split("\n");
    const resolvers = registered(cwd);
    const wrong: unknown[] = [];
    for (const line of lines) {
      const { argv, exit_code, id, stdout } = JSON.parse(line) as Case;
      if (!argv.some((word) => /^--(cfg|info|help)/.test(word))) continue;
      const { console: captured, out } = capturedConsole();
      const code = await runMain(
        {
          name: "app",
          base: cwd,
          configPath: app?.configPath ?? null,
          configName: app?.configName ?? null,
          versionBase: "1.3",
          plugins: [],
          resolvers,
          store,
        },
        () => undefined,
        { argv, env: {}, cwd, now: new Date(), console: captured },
      );
      const shown = out.stdout.replaceAll(cwd, "<DIR>");
      if (code !== exit_code || shown.trimEnd() !== stdout.trimEnd())
        wrong.push({ id, argv, code, exit_code, shown, stdout });
    }
    expect(wrong).toEqual([]);
  });
});

test("programs that register the same name compose each with its own", () => {
  const entry = (x: string) => ({
    package: null,
    provider: null,
    node: { t: { kind: "any" }, m: [["x", { t: { kind: "any" }, v: x }]] },
  });
  const text = JSON.stringify({
    version: 1,
    classes: {},
    entries: { config: entry("last"), other: entry("shared") },
    programs: { "/a.py": { config: entry("first") }, "/b.py": { config: entry("last") } },
  });
  const xOf = (path: string, program?: string) => {
    const found = storeOf(text, program).get(path);
    const node = found !== undefined && "create" in found ? child(found.create(), "x") : undefined;
    return node?.kind === "scalar" ? node.value : undefined;
  };
  expect([xOf("config", "/a.py"), xOf("other", "/a.py")]).toEqual(["first", "shared"]);
  expect([xOf("config", "/b.py"), xOf("config", "/c.py"), xOf("config")]).toEqual(
    Array(3).fill("last"),
  );
});

describe("a sync that fails", () => {
  const sync = (source: string) => {
    const cwd = mkdtempSync(join(tmpdir(), "hydraconf-sync-"));
    writeFileSync(join(cwd, "app.py"), source);
    return syncStore({
      cwd,
      env: { PATH: process.env["PATH"], PYTHONPATH: cwd },
      python: "python3",
      modules: ["app"],
    });
  };

  test("says that the Python has no Hydra, and writes nothing", () => {
    expect(() => sync("")).toThrow(/has no Hydra|No module named/);
  });

  test("names an interpreter that is not there, and how to name another", () => {
    const refused = refusal(() =>
      syncStore({ cwd: tmpdir(), env: {}, python: "/no/such/python", modules: [] }),
    );
    expect(refused.message).toBe("The Python '/no/such/python' was not found");
    expect(refused.details.hint).toContain("--python");
  });

  test("names the file and the line, also of what cannot be parsed", () => {
    const cwd = mkdtempSync(join(tmpdir(), "hydraconf-sync-"));
    const python = join(cwd, "python");
    const refused = (source: string, before = "") => {
      writeFileSync(join(cwd, "app.py"), source);
      const script = `#!/bin/sh\necho '${before}import runpy, sys; runpy.run_path(sys.argv[-1])' > "$1"\nexec python3 "$@"\n`;
      writeFileSync(python, script, { mode: 0o755 });
      const modules = [join(cwd, "app.py")];
      return refusal(() => syncStore({ cwd, env: { PATH: process.env["PATH"] }, python, modules }));
    };
    expect(refused("x = 1\ny = 1 / 0\n").message).toMatch(
      /could not read the ConfigStore: ZeroDivisionError: division by zero \(app\.py:2\)$/,
    );
    expect(refused("x = 1\ny = 1a\n").message).toMatch(/SyntaxError: .* \(app\.py:2\)$/);
    expect(refused("", "import nomodule; ").message).toMatch(/No module named 'nomodule'$/);
  });
});

/**
 * As much of Hydra and OmegaConf as an export needs, since no test has the real ones: fields are checked as there, by the same names.
 */
const PACKAGES = {
  "hydra/__init__.py": "from . import main\n__version__ = '1.3.5'\n",
  "hydra/main.py": "def main(**options):\n    return lambda task: task\n",
  "hydra/core/__init__.py": "",
  "hydra/core/config_store.py": `from omegaconf import OmegaConf
class ConfigStore:
    repo = {}
    @staticmethod
    def instance():
        return ConfigStore()
    def store(self, name, node, group=None, package=None, provider=None):
        node = OmegaConf.structured(node)
        self.repo[name + ".yaml"] = type("Node", (), {"node": node, "package": package, "provider": provider})
`,
  "omegaconf/__init__.py": `import dataclasses, typing
class Node:
    def __init__(self, cls, value):
        self.value = value
        self._metadata = type("Metadata", (), {"ref_type": cls, "object_type": cls, "optional": False})
    def _value(self):
        return self.value
class DictConfig(Node):
    pass
class ListConfig(Node):
    pass
class ValidationError(Exception):
    pass
class OmegaConf:
    @staticmethod
    def structured(node):
        cls = node if isinstance(node, type) else type(node)
        values = {}
        hints = typing.get_type_hints(cls)
        for field in dataclasses.fields(cls):
            hint = hints[field.name]
            value = field.default_factory() if field.default is dataclasses.MISSING else field.default
            if dataclasses.is_dataclass(hint):
                values[field.name] = OmegaConf.structured(hint)
            elif typing.get_origin(hint) is list:
                values[field.name] = ListConfig(list, [])
                values[field.name]._metadata.element_type = typing.get_args(hint)[0]
            elif isinstance(value, hint):
                values[field.name] = Node(hint, value)
            else:
                error = ValidationError("Value %r is no %s\\n    full_key: %s" % (value, hint.__name__, field.name))
                error.full_key, error.object_type = field.name, cls
                raise error
        return DictConfig(cls, values)
`,
  "omegaconf/_utils.py": `import dataclasses
from . import OmegaConf
is_structured_config = dataclasses.is_dataclass
def get_structured_config_data(cls, allow_objects=None):
    return OmegaConf.structured(cls).value
`,
};

describe("a dataclass that OmegaConf refuses", () => {
  const synced = (classes: string, stored = "Config") => {
    const cwd = mkdtempSync(join(tmpdir(), "hydraconf-sync-"));
    const files = {
      ...PACKAGES,
      "app.py": `from dataclasses import dataclass, field\nfrom typing import List\nfrom hydra.core.config_store import ConfigStore\n${classes}\nConfigStore.instance().store(name="config", node=${stored})\n`,
    };
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(cwd, name)), { recursive: true });
      writeFileSync(join(cwd, name), text);
    }
    const env = { PATH: process.env["PATH"], PYTHONPATH: cwd };
    return syncStore({ cwd, env, python: "python3", modules: ["app"] });
  };
  const shown = (error: ConfigError): readonly [string, string | undefined] => {
    const { origin } = error.details;
    if (origin?.kind !== "file") return [error.message, undefined];
    const { end, source, start } = origin;
    return [error.message, `${basename(source.name)}: ${source.text.slice(start, end)}`];
  };

  test.each([
    [
      "a default of another type",
      '@dataclass\nclass Config:\n    host: str = "h"\n    port: int = "x"\n',
      "Field 'port' of class Config is invalid: ValidationError: Value 'x' is no int",
      'app.py: port: int = "x"',
    ],
    [
      "one in a class below",
      '@dataclass\nclass DB:\n    port: int = "x"\n@dataclass\nclass Config:\n    db: DB = field(default_factory=DB)\n',
      "Field 'port' of class DB is invalid: ValidationError: Value 'x' is no int",
      'app.py: port: int = "x"',
    ],
    [
      "a type that is not there",
      '@dataclass\nclass Config:\n    host: str = "h"\n    port: "Port" = 1\n',
      "Field 'port' of class Config is invalid: NameError: name 'Port' is not defined",
      'app.py: port: "Port" = 1',
    ],
    [
      "what dataclasses themselves refuse",
      "if True:\n    @dataclass\n    class Config:\n        host: str\n        ports: list = [1]\n",
      "Field 'ports' of class Config is invalid: ValueError: mutable default <class 'list'> for field ports is not allowed: use default_factory",
      "app.py: ports: list = [1]",
    ],
    [
      "a field without a default after one with one",
      '@dataclass\nclass Config:\n    host: str = "h"\n    port: int\n',
      "Field 'port' of class Config is invalid: TypeError: non-default argument 'port' follows default argument",
      "app.py: port: int",
    ],
  ])("%s is named with its class and place", (_, classes, message, place) => {
    const [said, where] = shown(refusal(() => synced(classes)));
    expect([said, where]).toEqual([expect.stringContaining(message), place]);
  });

  test("another error stays what it is", () => {
    expect(refusal(() => synced("1 / 0")).message).toMatch(/ZeroDivisionError/);
  });

  test("a class that no config has yet is a problem, and the rest is exported", () => {
    const { count, problems } = synced(
      '@dataclass\nclass Item:\n    n: int = "x"\n@dataclass\nclass Config:\n    items: List[Item] = field(default_factory=list)\n',
    );
    expect([count, problems.map(shown)]).toEqual([
      1,
      [
        [
          "Field 'n' of class Item is invalid: ValidationError: Value 'x' is no int",
          'app.py: n: int = "x"',
        ],
      ],
    ]);
  });
});

describe("an export whose sources change", () => {
  /** A Python that writes an export, as the sync does, of what app.py says. */
  const FAKE = `#!/bin/sh
shift
exec python3 - "$@" <<'END'
import hashlib, json, os, sys
output, root, *modules = sys.argv[1:]
text = open(os.path.join(root, "app.py")).read()
if text.startswith("raise"):
    sys.exit("RuntimeError: told")
status = os.stat(os.path.join(root, "app.py"))
node = {"t": {"kind": "any"}, "m": [["x", {"t": {"kind": "any"}, "v": text}]]}
known = [status.st_mtime * 1000, status.st_size, hashlib.sha256(text.encode()).hexdigest()]
json.dump({"version": 1, "modules": modules, "sources": {"app.py": known}, "classes": {},
           "entries": {"config": {"package": None, "node": node}}}, open(output, "w"))
END
`;
  const project = () => {
    const cwd = mkdtempSync(join(tmpdir(), "hydraconf-sync-"));
    const python = join(cwd, "python");
    writeFileSync(python, FAKE, { mode: 0o755 });
    writeFileSync(join(cwd, "app.py"), "one");
    const env = { PATH: process.env["PATH"] };
    syncStore({ cwd, env, python, modules: ["app"] });
    const current = (sync?: "renew", refusal?: ConfigError) => {
      const warnings: string[] = [];
      const origin = {} as never;
      const settings = {
        python: { text: python, folder: cwd, origin },
        ...(sync && { sync: { text: sync, folder: cwd, origin, ...(refusal && { refusal }) } }),
      };
      const store = currentStore(settings, { cwd, env }, (message) => warnings.push(message));
      const entry = store?.get("config");
      const node = entry !== undefined && "create" in entry ? entry.create() : undefined;
      const x = node && child(node, "x");
      return [x?.kind === "scalar" ? x.value : undefined, warnings];
    };
    return { cwd, current };
  };

  test("is out of date, which a warning says", () => {
    const { cwd, current } = project();
    expect(current()).toEqual(["one", []]);
    writeFileSync(join(cwd, "app.py"), "twice");
    expect(current()).toEqual(["one", [expect.stringContaining("app.py has changed since")]]);
  });

  test("is made again where the settings say so", () => {
    const { cwd, current } = project();
    writeFileSync(join(cwd, "app.py"), "twice");
    expect(current("renew")).toEqual(["twice", []]);
    expect(current()).toEqual(["twice", []]);
  });

  test("stays what it was in a project that the user has not trusted", () => {
    const { cwd, current } = project();
    writeFileSync(join(cwd, "app.py"), "twice");
    const untrusted = new ConfigError({ code: "plugin.untrusted", message: "no", hint: "look" });
    const [x, warnings] = current("renew", untrusted);
    expect([x, warnings]).toEqual([
      "one",
      [expect.stringContaining("app.py has changed since"), "it is not renewed: no; look"],
    ]);
  });

  test("stays what it was where that fails", () => {
    const { cwd, current } = project();
    writeFileSync(join(cwd, "app.py"), "raise");
    const message = expect.stringMatching(/cannot be renewed: .* RuntimeError: told$/);
    expect(current("renew")).toEqual(["one", [message]]);
  });

  test("of which only the times changed is as good as before", () => {
    const { cwd, current } = project();
    utimesSync(join(cwd, "app.py"), 1, 1);
    expect(current()).toEqual(["one", []]);
  });
});
