/** What a project's settings file names, as the commands treat it before and after `trust`. */
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, describe, expect, test } from "vitest";
import { commandPath } from "../../e2e/command.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "hydraconf-trusts-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Each leaves a file named after it in the project. */
const FILES = {
  "package.json": "{}",
  "hydraconf.yaml": `plugins: [./plugin.mjs]
resolvers: {up: ./up.mjs, double: python:own.double, eval: ready}
python: ./python
sync: renew
env: {NODE_OPTIONS: --import=./loaded.mjs, FROM_SETTINGS: "5"}
`,
  "plugin.mjs": ran("plugin", "export const plugin = { name: 'mine' };"),
  "up.mjs": ran("up", "export const up = (x) => String(x).toUpperCase();"),
  "loaded.mjs": ran("loaded", ""),
  "own.py": "open('ran-own', 'w').close()\ndef double(x): return 2 * x\n",
  python: '#!/bin/sh\ntouch ran-python\nexec python3 "$@"\n',
  "conf/config.yaml": "a: 3\nb: ${double:${a}}\nc: ${up:x}\nd: ${oc.env:FROM_SETTINGS}\n",
};

function ran(name: string, code: string): string {
  return `import { writeFileSync } from "node:fs";\nwriteFileSync(new URL("ran-${name}", import.meta.url), "");\n${code}\n`;
}

const MARKS = ["plugin", "up", "loaded", "own", "python"];

let count = 0;
function project(files: Readonly<Record<string, string>> = FILES) {
  count += 1;
  const folder = join(root, `p${count}`);
  const home = join(root, `home${count}`);
  mkdirSync(home);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text, { mode: name === "python" ? 0o755 : 0o644 });
  }
  const env = { PATH: process.env["PATH"] ?? "", HOME: home };
  const call = (
    command: string,
    args: readonly string[],
    more: Readonly<Record<string, string>> = {},
  ) => {
    const { status, stderr, stdout } = spawnSync(
      process.execPath,
      [commandPath(command), ...args],
      {
        cwd: folder,
        encoding: "utf8",
        env: { ...env, ...more },
      },
    );
    return { status, stderr, stdout };
  };
  return {
    folder,
    env,
    hydraconf: (...args: readonly string[]) => call("hydraconf", args),
    profile: (...args: readonly string[]) => call("deep-profile", args),
    call,
    /** What has run since it was last asked. */
    ran: () =>
      MARKS.filter((name) => {
        const mark = join(folder, `ran-${name}`);
        const isThere = existsSync(mark);
        rmSync(mark, { force: true });
        return isThere;
      }),
  };
}

describe("before the project is trusted", () => {
  const here = project();

  test.each([
    ["hydraconf", ["--cfg", "job"]],
    ["hydraconf", ["--explain", "a"]],
    ["hydraconf", ["--info", "all"]],
    ["hydraconf", ["--diff", "a=4"]],
    ["hydraconf", ["-m", "a=1,2"]],
    ["hydraconf", ["schema"]],
    ["hydraconf", ["run", "--dry-run", "--", "true"]],
    ["hydraconf", ["run", "--", "touch", "ran-plugin"]],
    ["deep-profile", ["--cfg", "job"]],
    ["deep-profile", ["--dry-run"]],
  ])("%s %j is refused with what would run and how to trust it", (command, args) => {
    const { status, stderr, stdout } = here.call(command, args);
    expect([status, stdout, here.ran()]).toEqual([1, "", []]);
    expect(stderr).toContain("is not trusted yet, and runs code: plugins: ./plugin.mjs");
    expect(stderr).toContain(`${command} trust ${here.folder}; in CI set HYDRACONF_TRUST=1`);
    expect(stderr).toContain("hydraconf.yaml:1:");
  });

  test.each([
    ["hydraconf", ["--version"]],
    ["hydraconf", ["run", "--version"]],
    ["hydraconf", ["sweep", "--help"]],
    ["hydraconf", ["mcp", "--help"]],
    ["hydraconf", ["completion", "bash"]],
    ["hydraconf", ["-sc", "install=bash"]],
    ["hydraconf", ["trust", "--list"]],
    ["deep-profile", ["--version"]],
    ["deep-profile", ["query", "--help"]],
  ])("%s %j needs no plugin, and loads none", (command, args) => {
    const { status, stderr } = here.call(command, args);
    expect([status, stderr, here.ran()]).toEqual([0, "", []]);
  });

  test.each([[["--help"]], [["--hydra-help"]], [["--help", "a"]]])(
    "%j helps without them, and says so",
    (args) => {
      const { status, stderr, stdout } = here.hydraconf(...args);
      expect([status, here.ran()]).toEqual([0, []]);
      expect(stdout).not.toBe("");
      expect(stderr).toMatch(/^note: .* is not trusted yet, and runs code: .*\n {2}Hint: .*\n$/);
    },
  );

  test("completion is silent, and goes on with what needs none of it", () => {
    for (const args of [
      ["-sc", "query=fish", "--", "a"],
      ["run", "-sc", "query=fish", "--", "a"],
    ]) {
      const { status, stderr, stdout } = here.hydraconf(...args);
      expect([status, stderr, here.ran()]).toEqual([0, "", []]);
      if (args[0] === "-sc") expect(stdout).toContain("a=");
    }
    const debugged = here.call("hydraconf", ["-sc", "query=fish", "--", "a"], {
      HYDRA_COMP_DEBUG: "1",
    });
    expect(debugged.stderr).toContain("is not trusted yet");
  });

  test("a resolver is refused where it is needed, and only there", () => {
    const only = project({
      ...FILES,
      "hydraconf.yaml": FILES["hydraconf.yaml"].replace(/^plugins.*\n/, ""),
    });
    expect(only.hydraconf("--cfg", "job")).toMatchObject({ status: 0, stderr: "" });
    for (const key of ["b", "c"]) {
      const { status, stderr } = only.hydraconf("--resolve", "-p", key);
      expect([status, only.ran()]).toEqual([1, []]);
      expect(stderr).toContain("is not trusted yet, and runs code: resolvers.up: ./up.mjs");
    }
  });

  test("what a user types runs: python sync, and settings on the command line", () => {
    const typed = here.hydraconf("--settings", "hydraconf.yaml", "--resolve");
    expect(typed).toMatchObject({ status: 0, stdout: "a: 3\nb: 6\nc: X\nd: '5'\n" });
    expect(here.ran()).toEqual(["plugin", "up", "own", "python"]);
    here.hydraconf("python", "sync", "own");
    expect(here.ran()).toContain("python");
  });

  test("a client of mcp gets the refusal", async () => {
    const client = new Client({ name: "test", version: "1" });
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [commandPath("hydraconf"), "mcp"],
        cwd: here.folder,
        env: here.env,
      }),
    );
    const { content, isError } = await client.callTool({ name: "compose", arguments: {} });
    await client.close();
    expect([isError, here.ran()]).toEqual([true, []]);
    expect(JSON.stringify(content)).toContain("is not trusted yet, and runs code");
  });
});

describe("trust", () => {
  test("shows what it trusts, and everything runs until a file changes", () => {
    const { folder, hydraconf, ran } = project();
    expect(hydraconf("trust", "--show")).toMatchObject({ status: 1, stderr: "" });
    const { status, stdout } = hydraconf("trust");
    expect(status).toBe(0);
    expect(stdout).toBe(
      `${folder}/hydraconf.yaml is trusted: commands in this project run
  plugins: ./plugin.mjs
  resolvers.up: ./up.mjs
  resolvers.double: python:own.double
  python: python
  sync: renew
Fingerprint of: hydraconf.yaml, plugin.mjs, up.mjs, own.py, python
`,
    );
    expect(ran()).toEqual([]);
    expect(hydraconf("trust", "--show").status).toBe(0);
    expect(hydraconf("--resolve").stdout).toBe("a: 3\nb: 6\nc: X\nd: '5'\n");
    expect(ran()).toEqual(["plugin", "up", "own", "python"]);
    writeFileSync(join(folder, "own.py"), "def double(x): return 4 * x\n");
    const changed = hydraconf("--resolve");
    expect([changed.status, ran()]).toEqual([1, []]);
    expect(changed.stderr).toContain("is not as it was when it was trusted (own.py changed)");
    expect(hydraconf("trust", "--show").stdout).toContain("Since it was trusted, own.py changed\n");
    expect(hydraconf("trust").stdout).toContain("Since it was last trusted, own.py changed\n");
    expect(hydraconf("--resolve").stdout).toContain("b: 12\n");
  });

  test("tells files that are named for the first time, or no longer, from those that changed", () => {
    const { folder, hydraconf } = project();
    hydraconf("trust");
    writeFileSync(join(folder, "up.mjs"), "export const up = (text) => text;\n");
    writeFileSync(join(folder, "further.mjs"), "export default { name: 'further' };\n");
    const settings = join(folder, "hydraconf.yaml");
    writeFileSync(
      settings,
      readFileSync(settings, "utf8").replace("./plugin.mjs", "./further.mjs"),
    );
    expect(hydraconf("trust", "--show").stdout).toContain(
      "Since it was trusted, hydraconf.yaml, up.mjs changed; further.mjs named for the first time; plugin.mjs named no longer\n",
    );
  });

  test("lists, and is revoked, also for a project that is gone", () => {
    const { folder, env, hydraconf, call } = project();
    expect(hydraconf("trust", "--list").stdout).toBe("No project is trusted\n");
    hydraconf("trust", folder);
    expect(hydraconf("trust", "--list").stdout).toMatch(
      new RegExp(`^trusted {2}\\d{4}-\\d\\d-\\d\\d ${folder}/hydraconf.yaml\n$`),
    );
    writeFileSync(join(folder, "up.mjs"), "");
    const { projects, version } = JSON.parse(hydraconf("trust", "--list", "--json").stdout);
    expect(version).toBe(1);
    const [listed] = projects;
    expect(listed).toMatchObject({ state: "changed", file: join(folder, "hydraconf.yaml") });
    rmSync(join(folder, "hydraconf.yaml"));
    expect(hydraconf("trust", "--list").stdout).toContain("gone ");
    expect(hydraconf("trust", "--revoke")).toMatchObject({ status: 0 });
    expect(hydraconf("trust", "--revoke")).toMatchObject({ status: 1 });
    expect(hydraconf("trust", "--list").stdout).toBe("No project is trusted\n");
    expect(call("hydraconf", ["trust"], env)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("has no hydraconf.yaml"),
    });
  });

  test("as JSON; what has nothing to trust; what is misused", () => {
    const { hydraconf } = project();
    expect(JSON.parse(hydraconf("trust", "--json").stdout)).toMatchObject({
      state: "trusted",
      fingerprint: expect.stringMatching(/^sha256-[0-9a-f]{64}$/),
      code: expect.arrayContaining([{ setting: "sync", text: "renew" }]),
      files: ["hydraconf.yaml", "plugin.mjs", "up.mjs", "own.py", "python"],
      owned_by_others: [],
    });
    const plain = project({ "package.json": "{}", "hydraconf.yaml": "app: train.py\n" });
    expect(plain.hydraconf("trust")).toMatchObject({
      status: 0,
      stdout: `${plain.folder}/hydraconf.yaml names nothing that runs: there is nothing to trust\n`,
    });
    expect(plain.hydraconf("trust", "--list").stdout).toBe("No project is trusted\n");
    for (const wrong of [["--list", "--show"], ["--list", "."], ["a", "b"], ["--all"]])
      expect(hydraconf("trust", ...wrong).status).toBe(2);
  });

  test("is the same for deep-profile", () => {
    const { hydraconf, profile } = project({
      ...FILES,
      "hydraconf.yaml": "plugins: [./plugin.mjs]\n",
    });
    expect(profile("trust").status).toBe(0);
    expect(hydraconf("--cfg", "job").status).toBe(0);
    expect(profile("--cfg", "job").status).toBe(0);
  });

  test("HYDRACONF_TRUST=1 stands for it, in CI", () => {
    const { call, ran } = project();
    const { status, stdout } = call("hydraconf", ["--resolve"], { HYDRACONF_TRUST: "1" });
    expect([status, stdout]).toEqual([0, "a: 3\nb: 6\nc: X\nd: '5'\n"]);
    expect(ran()).toEqual(["plugin", "up", "own", "python"]);
  });
});

describe("jobs of a sweep in processes of their own", () => {
  test("are trusted by the process that began it, also where the record is not", () => {
    const { folder, hydraconf, ran } = project();
    hydraconf("trust");
    const sweep = ["hydra/launcher=local", "hydra.launcher.n_jobs=1", "hydra.sweep.dir=out"];
    // After the first job there is no record, as on another machine.
    const program = 'rm -rf "$HOME/.config"; echo "$0 $1 $HYDRACONF_TRUST" >> told';
    const { status, stderr } = hydraconf(
      ...["run", "-m", "a=1,2", ...sweep, "hydra.launcher.reuse_workers=false"],
      ...["--", "sh", "-c", program, "${a}", "${b}"],
    );
    expect([status, stderr]).toEqual([0, expect.any(String)]);
    const lines = readFileSync(join(folder, "told"), "utf8").trim().split("\n");
    expect(lines).toEqual([
      expect.stringMatching(/^1 2 sha256-[0-9a-f]{64}$/),
      expect.stringMatching(/^2 4 sha256-[0-9a-f]{64}$/),
    ]);
    // Settings are for composing: no process gets their variables.
    expect(ran()).not.toContain("loaded");
    expect(hydraconf("--cfg", "job").status).toBe(1);
  });

  test("trust only this project", () => {
    const { call, env, hydraconf } = project();
    const { fingerprint } = JSON.parse(hydraconf("trust", "--json").stdout);
    hydraconf("trust", "--revoke");
    expect(hydraconf("--cfg", "job").status).toBe(1);
    const trusted = { ...env, HYDRACONF_TRUST: fingerprint };
    expect(call("hydraconf", ["--cfg", "job"], trusted).status).toBe(0);
    const other = project({ ...FILES, "up.mjs": `${FILES["up.mjs"]}//` });
    const refused = other.call("hydraconf", ["--cfg", "job"], { HYDRACONF_TRUST: fingerprint });
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("is not what HYDRACONF_TRUST trusts");
  });
});
