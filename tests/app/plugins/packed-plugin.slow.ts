import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** An empty project, in which hydraconf and the plugin of docs/plugins.md are installed from their tarballs. */
let project: string;
const settings = () => join(project, "hydraconf.settings.yaml");

beforeAll(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), "hc-plugin-")));
  writeFileSync(join(project, "package.json"), '{ "name": "empty", "type": "module" }');
  const source = join(project, "source");
  mkdirSync(source);
  for (const [name, text] of documentedFiles()) writeFileSync(join(source, name), text);
  const modules = join(project, "node_modules");
  install(source);
  install(root);
  for (const name of readdirSync(join(root, "node_modules")))
    if (!name.startsWith(".") && name !== "hydraconf")
      symlinkSync(join(root, "node_modules", name), join(modules, name));
  // The recorder needs no compiler then.
  if (existsSync(join(root, "build")))
    symlinkSync(join(root, "build"), join(modules, "hydraconf/build"));
  writeFileSync(join(project, "program.js"), PROGRAM);
}, 300_000);

afterAll(() => rmSync(project, { recursive: true, force: true }));
beforeEach(() => rmSync(settings(), { force: true }));

/** The files of the package: blocks of the page that begin with a file's name, and the manifest. */
function documentedFiles(): readonly (readonly [string, string])[] {
  const page = readFileSync(join(root, "docs/plugins.md"), "utf8");
  const scripts = [...page.matchAll(/```js\n\/\/ (\w+\.js)\n(.*?)```/gs)];
  const manifest = /```json\n(.*?)```/s.exec(page)?.[1] ?? "";
  return [
    ["package.json", manifest],
    ...scripts.map(([, name = "", text = ""]) => [name, text] as const),
  ];
}

/** Packs a package, and puts it where npm would: offline, and without its dependencies. */
function install(folder: string): void {
  const name = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).name;
  const target = join(project, "node_modules", name);
  const into = mkdtempSync(join(project, "pack-"));
  execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", into], {
    cwd: folder,
  });
  mkdirSync(target, { recursive: true });
  const tarball = join(into, readdirSync(into)[0] ?? "");
  execFileSync("tar", ["-xzf", tarball, "-C", target, "--strip-components=1"]);
}

/** Its jobs wait while there is a file named `wait`. */
const PROGRAM = `import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { hydraMain, memorySource, STANDARD_PLUGINS } from "hydraconf";
import { plugin } from "hydraconf-example";
const store = new Map([["config", { value: { a: 0, b: 0 } }]]);
process.exitCode = await hydraMain(
  { name: "program", configName: "config", store, plugins: [...STANDARD_PLUGINS, plugin] },
  async (config) => {
    while (existsSync("wait")) await sleep(50);
    return config.toObject();
  },
);
`;

function run(...argv: readonly string[]) {
  const [file = "", ...args] = argv;
  const env = { ...process.env, HOME: project, XDG_CONFIG_HOME: "", HYDRACONF_TRUST: "1" };
  return spawnSync(process.execPath, [file, ...args], { cwd: project, encoding: "utf8", env });
}

const command = (name: string, ...args: readonly string[]) =>
  run(join(project, "node_modules/hydraconf/dist/bin", `${name}.js`), ...args);

const CHOICES = ["hydra/launcher=background", "hydra/sweeper=one_at_a_time"];
const sweep = (directory: string, ...more: readonly string[]) =>
  run("program.js", "-m", ...CHOICES, `hydra.sweep.dir=${directory}`, "a=1,2", "b=3,4", ...more);

/** What `hydraconf sweep status` says, with the plugin of a settings file. */
function status(directory: string) {
  const { stdout } = command("hydraconf", "sweep", "status", "--json", directory);
  return JSON.parse(stdout);
}

async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; tries < 300 && !isSo(); tries++) await sleep(100);
  expect(isSo()).toBe(true);
}

describe("a program with a plugin", () => {
  it("sweeps with its sweeper and its launcher", { timeout: 120_000 }, () => {
    const { status: code, stderr } = sweep("s");
    expect([code, stderr]).toEqual([0, expect.stringContaining("3 of 3 jobs")]);
    const { jobs } = JSON.parse(readFileSync(join(project, "s/sweep.json"), "utf8"));
    expect(jobs.map(({ result }: { result: unknown }) => result)).toEqual([
      { a: 1, b: 3 },
      { a: 2, b: 3 },
      { a: 1, b: 4 },
    ]);
  });

  it("is told of settings that the launcher does not know", () => {
    const { status: code, stderr } = sweep("s0", "+hydra.launcher.nicer=1");
    expect(code).toBe(1);
    expect(stderr).toContain("Background has no setting 'nicer'");
  });

  it("leaves jobs alone, and they can be looked at, ended and resumed", {
    timeout: 240_000,
  }, async () => {
    writeFileSync(join(project, "wait"), "");
    expect(sweep("s2", "--detach").status).toBe(0);
    const unknown = command("hydraconf", "sweep", "status", "s2");
    expect(unknown.stdout).toContain("launched by 'background', a launcher that no plugin");
    writeFileSync(settings(), "plugins: [hydraconf-example]\n");
    await until(() => status("s2").counts.running === 3);
    expect(status("s2").jobs[1].scheduler).toMatchObject({ id: "bg-1", state: "RUNNING" });
    const cancelled = command("hydraconf", "sweep", "cancel", "s2");
    expect([cancelled.status, cancelled.stderr]).toEqual([0, "Ending 3 jobs in the scheduler\n"]);
    expect(status("s2").counts).toEqual({ stopped: 3 });
    rmSync(join(project, "wait"));
    expect(run("program.js", "--resume", "s2").status).toBe(0);
    expect(status("s2").counts).toEqual({ completed: 3 });
    expect(command("hydraconf", "sweep", "wait", "s2").status).toBe(0);
  });
});

describe("a settings file", () => {
  it("gives its plugins to the commands", { timeout: 240_000 }, () => {
    writeFileSync(settings(), "# ours\nplugins:\n  - hydraconf-example\n");
    const info = command("hydraconf", "-cp", "conf", "--info", "plugins");
    expect(info.stdout).toContain("Background");
    const swept = command(
      "deep-profile",
      ...["-m", ...CHOICES, "hydra.sweep.dir=p", "workload=command"],
      "workload.command=[sh,-c,':'],[sh,-c,'exit 0']",
    );
    expect([swept.status, swept.stderr]).toEqual([0, expect.stringContaining("2 of 2 jobs")]);
    expect(readdirSync(join(project, "p"))).toEqual(expect.arrayContaining(["0", "1"]));
  });

  it.each([
    ["plugins: [hydraconf-example, nowhere]", "Cannot find the plugin 'nowhere'", ":1:30"],
    ["plugins:\n  - ./program-less.js", "Cannot load the plugin './program-less.js'", ":2:5"],
    ["plugins: [picocolors]", "'picocolors' is no plugin", ":1:11"],
    ["plugins: [./odd.js]", "plugin './odd.js': there is no option 'plugin.launcher'", ":1:11"],
    ["plugins: [hydraconf-example, ./same.js]", "both provide the config 'hydra/launcher/bac", ""],
    ["plugin: [hydraconf-example]", "There is no setting 'plugin'", ":1:1"],
    ["plugins: hydraconf-example", "must be a list", ":1:10"],
    ["plugins: [", "must be sufficiently indented", ":2:1"],
  ])("is refused with its line: %s", (text, message, place) => {
    writeFileSync(join(project, "odd.js"), "export const plugin = { name: 'odd', launcher: [] };");
    writeFileSync(
      join(project, "same.js"),
      "export const plugin = { name: 'same', configs: { 'hydra/launcher/background': { value: {} } } };",
    );
    writeFileSync(settings(), `${text}\n`);
    const { status: code, stderr } = command("hydraconf", "--info", "plugins");
    expect(code).toBe(1);
    expect(stderr).toContain(message);
    if (place !== "") expect(stderr).toContain(`${settings()}${place}`);
  });

  it("that everybody can write is not taken up unless it is named", () => {
    writeFileSync(settings(), "plugins: [hydraconf-example]\n");
    chmodSync(settings(), 0o666);
    const refused = command("hydraconf", "--info", "plugins");
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining("it runs code")]);
    rmSync(settings());
    const named = join(project, "named.yaml");
    writeFileSync(named, "plugins: [hydraconf-example]\n");
    chmodSync(named, 0o666);
    const taken = command("hydraconf", "--settings", named, "--info", "plugins");
    expect([taken.status, taken.stdout]).toEqual([0, expect.stringContaining("Background")]);
  });
});
