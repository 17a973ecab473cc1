import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { readSettings } from "../../../src/app/plugins/load-settings.ts";
import { loadSettings } from "../../../src/app/plugins/settings-files.ts";
import {
  allRecords,
  consentTo,
  projectCode,
  recordTrust,
  revokeTrust,
} from "../../../src/app/plugins/trust.ts";
import { isConfigError } from "../../../src/engine/values/errors.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "hydraconf-trust-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const FILES = {
  "package.json": "{}",
  "hydraconf.yaml":
    "plugins: [./plugins/mine.mjs, other]\npython: bin/python\nsync: renew\nresolvers: {up: './up.mjs#by', double: python:pkg.own.double, eval: ready}\n",
  "plugins/mine.mjs": "export const plugin = { name: 'mine' };",
  "up.mjs": "export const by = (x) => x;",
  "pkg/__init__.py": "",
  "pkg/own.py": "def double(x): return 2 * x\n",
  "bin/python": "#!/bin/sh\n",
  "node_modules/other/package.json": '{"name": "other", "version": "1.0.0", "main": "main.js"}',
  "node_modules/other/main.js": "exports.plugin = { name: 'other' };",
};

let count = 0;
function project(files: Readonly<Record<string, string>> = FILES) {
  count += 1;
  const folder = join(root, `p${count}`);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const home = join(root, `home${count}`);
  mkdirSync(home);
  return { folder, env: { HOME: home } as Record<string, string>, ...inFolder(folder) };
}

const inFolder = (folder: string, cwd = folder) => {
  const file = join(folder, "hydraconf.yaml");
  const read = () => ({ file, settings: readSettings(file) });
  return {
    file,
    code: () => projectCode(read(), cwd),
    consent: (env: Readonly<Record<string, string>>) =>
      consentTo(read(), { cwd, env, command: "hydraconf trust" }),
  };
};

type Project = ReturnType<typeof project>;

const trust = ({ code, env }: Project) => recordTrust(code(), { env, now: new Date(0) });

describe("what runs", () => {
  test("is all that a settings file names but ready resolvers", () => {
    const { code } = project();
    expect(code().code.map(({ setting, text }) => `${setting} ${text}`)).toEqual([
      "plugins ./plugins/mine.mjs",
      "plugins other",
      "resolvers.up ./up.mjs#by",
      "resolvers.double python:pkg.own.double",
      "python bin/python",
      "sync renew",
    ]);
    expect(Object.keys(code().hashes).sort()).toEqual(
      Object.keys(FILES)
        .filter((name) => name !== "package.json")
        .sort(),
    );
  });

  test("is nothing where the settings are only read", () => {
    const only =
      "aliases: {lr: a}\napp: a.py\napps: {a: a.py}\nenv: {A: b}\nstore: [x]\nsync: note\n";
    const { consent, env } = project({ "hydraconf.yaml": `${only}resolvers: {eval: ready}\n` });
    expect(consent(env)).toEqual({ isGiven: true });
  });

  test("is decided for each setting that there is", () => {
    const read = ["aliases", "app", "apps", "env", "notes", "store"];
    const { file } = project({ "hydraconf.yaml": "nothing: 1\n" });
    const known = () => {
      try {
        readSettings(file);
      } catch (error) {
        if (isConfigError(error)) return error.details.available ?? [];
        throw error;
      }
      return [];
    };
    const runs = project()
      .code()
      .code.map(({ setting }) => setting.split(".")[0]);
    expect(new Set([...read, ...runs])).toEqual(new Set(known()));
  });
});

describe("the fingerprint", () => {
  test("is that of a copy elsewhere", () => {
    const { code, folder } = project();
    cpSync(folder, join(root, "copy"), { recursive: true });
    expect(inFolder(join(root, "copy")).code().fingerprint).toBe(code().fingerprint);
  });

  test("changes with every byte of every file", () => {
    const { code, folder } = project();
    const before = code().fingerprint;
    const named = Object.keys(FILES).filter((name) => name !== "package.json");
    fc.assert(
      fc.property(
        fc.constantFrom(...named.filter((name) => name !== "hydraconf.yaml")),
        fc.uint8Array({ minLength: 1, maxLength: 8 }),
        (name, bytes) => {
          const old = FILES[name as keyof typeof FILES];
          writeFileSync(join(folder, name), Buffer.concat([Buffer.from(old), bytes]));
          // A package without a valid package.json is not found.
          const after = code().fingerprint;
          writeFileSync(join(folder, name), old);
          return after !== before && code().fingerprint === before;
        },
      ),
    );
    // Bytes that are not UTF-8 are told apart.
    const both = [0xfe, 0xff].map((byte) => {
      writeFileSync(join(folder, "bin/python"), Buffer.of(byte));
      return code().fingerprint;
    });
    expect(both[0]).not.toBe(both[1]);
  });

  test("changes with the text of the settings file, and with a link to another place", () => {
    const { code, folder, file } = project();
    const before = code().fingerprint;
    writeFileSync(file, `${FILES["hydraconf.yaml"]}# more\n`);
    const commented = code().fingerprint;
    // The same content loads other files from another place.
    mkdirSync(join(folder, "else"));
    renameSync(join(folder, "up.mjs"), join(folder, "else/up.mjs"));
    symlinkSync("else/up.mjs", join(folder, "up.mjs"));
    expect(new Set([before, commented, code().fingerprint]).size).toBe(3);
  });

  test("of an interpreter that is a link out of the project needs none of its content", () => {
    const { code, folder } = project();
    rmSync(join(folder, "bin/python"));
    symlinkSync(process.execPath, join(folder, "bin/python"));
    expect(Object.keys(code().hashes)).not.toContain("bin/python");
  });

  test("is there for what is no file", () => {
    const { code, folder } = project();
    rmSync(join(folder, "up.mjs"));
    spawnSync("mkfifo", [join(folder, "up.mjs")]);
    rmSync(join(folder, "plugins/mine.mjs"));
    mkdirSync(join(folder, "plugins/mine.mjs"));
    rmSync(join(folder, "node_modules"), { recursive: true });
    expect(code().fingerprint).toMatch(/^sha256-/);
  });
});

describe("consent", () => {
  test("is that of the record, until something changes, or it is revoked", () => {
    const made = project();
    const { code, consent, env, folder } = made;
    expect(consent(env)).toMatchObject({ isGiven: false });
    trust(made);
    expect(consent(env)).toEqual({ isGiven: true, passed: code().fingerprint });
    writeFileSync(join(folder, "pkg/own.py"), "def double(x): return 3 * x\n");
    const refused = consent(env);
    expect(refused.isGiven ? "" : refused.refusal.message).toContain("(pkg/own.py changed)");
    trust(made);
    revokeTrust(code(), env);
    expect(consent(env)).toMatchObject({ isGiven: false });
  });

  test("names what would run, the command, and the variable", () => {
    const { consent, env, folder } = project();
    const refused = consent(env);
    const details = refused.isGiven ? undefined : refused.refusal.details;
    expect(details?.code).toBe("plugin.untrusted");
    expect(details?.message).toContain("plugins: ./plugins/mine.mjs, plugins: other, ");
    expect(details?.hint).toContain(`hydraconf trust ${folder};`);
    expect(details?.hint).toContain("HYDRACONF_TRUST=1");
  });

  test("is given by the variable: to all with 1, else to the project of the fingerprint", () => {
    const [one, other] = [project(), project({ ...FILES, "up.mjs": "" })];
    const at = (made: Project, value: string) =>
      made.consent({ ...made.env, HYDRACONF_TRUST: value }).isGiven;
    expect(at(one, "1")).toBe(true);
    expect(at(one, one.code().fingerprint)).toBe(true);
    expect(at(other, one.code().fingerprint)).toBe(false);
    for (const value of ["", "0", "true", "yes", "sha256-"]) expect(at(one, value)).toBe(false);
  });

  test("is one for all ways to a directory", () => {
    const made = project();
    trust(made);
    symlinkSync(made.folder, join(root, "way"));
    expect(inFolder(join(root, "way")).consent(made.env).isGiven).toBe(true);
    expect(allRecords(made.env).map(({ file }) => file)).toEqual([made.file]);
  });

  test("of a copy is another one", () => {
    const made = project();
    trust(made);
    cpSync(made.folder, join(root, "copy2"), { recursive: true });
    expect(inFolder(join(root, "copy2")).consent(made.env).isGiven).toBe(false);
  });

  test("is not taken from a record that others can write", () => {
    const made = project();
    trust(made);
    const folder = join(made.env["HOME"] ?? "", ".config/hydraconf/trusted");
    const [name = ""] = readdirSync(folder);
    chmodSync(join(folder, name), 0o620);
    expect(made.consent(made.env).isGiven).toBe(false);
    chmodSync(join(folder, name), 0o600);
    expect(made.consent(made.env).isGiven).toBe(true);
    writeFileSync(join(folder, name), "{");
    expect(made.consent(made.env).isGiven).toBe(false);
  });
});

describe("settings", () => {
  const PLUGIN = { "mine.mjs": "globalThis.ran = true; export const plugin = { name: 'mine' };" };
  const untrusted = {
    "package.json": "{}",
    "hydraconf.yaml": "plugins: [./mine.mjs]\n",
    ...PLUGIN,
  };
  const trustCommand = "hydraconf trust";

  const codeOf = async (loading: Promise<unknown>) =>
    loading.then(
      () => undefined,
      (error: unknown) => (isConfigError(error) ? error.code : error),
    );

  test("of a project, also from below, are refused when their plugins are asked for", async () => {
    const { env, folder } = project(untrusted);
    mkdirSync(join(folder, "a/b"), { recursive: true });
    const loaded = await loadSettings([], { cwd: join(folder, "a/b"), env }, { trustCommand });
    expect(loaded.refusal?.code).toBe("plugin.untrusted");
    expect(await codeOf(loaded.plugins())).toBe("plugin.untrusted");
    expect(await loaded.trustedPlugins()).toEqual([]);
    expect(Reflect.get(globalThis, "ran")).toBeUndefined();
  });

  test("of the user, of the command line and of a program of one's own need no trust", async () => {
    const names = (plugins: readonly { readonly name: string }[]) =>
      plugins.map(({ name }) => name);
    const { env, folder } = project(untrusted);
    try {
      const own = await loadSettings([], { cwd: folder, env }, {});
      expect(names(await own.plugins())).toEqual(["mine"]);
      const typed = { trustCommand, named: "hydraconf.yaml" };
      const named = await loadSettings([], { cwd: folder, env }, typed);
      expect(names(await named.plugins())).toEqual(["mine"]);
      const users = join(env["HOME"] ?? "", ".config/hydraconf");
      mkdirSync(users, { recursive: true });
      writeFileSync(join(users, "settings.yaml"), "plugins: [./mine.mjs]\n");
      writeFileSync(join(users, "mine.mjs"), "export const plugin = { name: 'users' };");
      const users2 = await loadSettings([], { cwd: users, env }, { trustCommand });
      expect(names(await users2.plugins())).toEqual(["users"]);
      const both = await loadSettings([], { cwd: folder, env }, { trustCommand });
      expect(names(await both.trustedPlugins())).toEqual(["users"]);
      expect(await codeOf(both.plugins())).toBe("plugin.untrusted");
    } finally {
      Reflect.deleteProperty(globalThis, "ran");
    }
  });
});
