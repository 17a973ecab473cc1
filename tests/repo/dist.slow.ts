// What `npm run dist` makes, where there is no Node.js.
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { STANDARD_PLUGINS } from "../../src/app/plugins/standard-plugins.ts";
import { DEFAULT_DIALECT } from "../../src/engine/values/dialect.ts";
import { hydraPluginFiles, optionsOfWheel } from "../../src/python/hydra-plugin.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const isHere = process.platform === "linux" && process.arch === "x64";
if (!isHere) console.warn("SKIPPED executables without Node.js: they are for Linux on x86-64");

let place: string;
let executable: string;
let project: string;

const files = {
  "conf/config.yaml":
    'defaults: [db: pg]\nn: 20\nhalf: "${half:${n}}"\nsum: "${eval:\'1 + ${n}\'}"\n',
  "conf/db/pg.yaml": "port: 5432\n",
  "hydraconf.yaml": "plugins: [./own.mjs]\nresolvers: {eval: ready, half: ./own.mjs}\n",
  "own.mjs":
    "import { join } from 'node:path';\nexport const half = (n) => n / 2;\nexport const plugin = { name: join('a', 'b') };\n",
  "conf/db/schema.json": "{}",
};

beforeAll(() => {
  if (!isHere) return;
  place = mkdtempSync(join(tmpdir(), "hydraconf-dist-"));
  execFileSync(process.execPath, [join(root, "scripts", "dist.mjs"), join(place, "dist")], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  executable = join(place, "dist", "hydraconf");
  project = join(place, "project");
  mkdirSync(join(place, "empty"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(project, name, ".."), { recursive: true });
    writeFileSync(join(project, name), text);
  }
}, 600_000);

afterAll(() => isHere && rmSync(place, { recursive: true, force: true }));

/** Runs a command in a project, with a `PATH` that leads to nothing. */
function run(command: readonly string[], cwd = project) {
  const [file = "", ...args] = command;
  const env = { PATH: join(place, "empty"), HOME: place, HYDRACONF_TRUST: "1" };
  return spawnSync(file, args, { cwd, env, encoding: "utf8" });
}

describe.skipIf(!isHere)("the executable", () => {
  it.each([
    [["--version"]],
    [["--cfg", "job"]],
    [["--resolve", "n=8"]],
    [["--info", "all"]],
    [["--explain", "db.port"]],
    [["--help", "db.port"]],
    [["--help"]],
    [["schema", "--types", "-o", "-"]],
    [["-m", "n=1,2"]],
    [["n2=1"]],
    [["-sc", "query=bash", "--", "db="]],
  ])("%j does as with Node.js", (args) => {
    const usual = run([process.execPath, join(root, "dist/bin/hydraconf.js"), ...args]);
    const { status, stdout, stderr } = run([executable, ...args]);
    expect([status, stdout, stderr]).toEqual([usual.status, usual.stdout, usual.stderr]);
  });

  it("runs a sweep in processes of its own", () => {
    const words = ["run", "-m", "n=1,2", "hydra/launcher=local", "hydra.sweep.dir=out"];
    const { status, stderr } = run([executable, ...words, "--", "/bin/echo", "n is ${n}"]);
    expect([status, stderr]).toEqual([0, expect.stringContaining("2 of 2 jobs completed")]);
    const logs = [0, 1].map((number) =>
      readFileSync(join(project, `out/.sweep/jobs/${number}.log`), "utf8"),
    );
    expect(logs).toEqual([expect.stringContaining("n is 1"), expect.stringContaining("n is 2")]);
  });

  it("runs where Node.js is hidden", () => {
    const hide = `mount --bind /dev/null ${process.execPath} && ! ${process.execPath} --version 2>/dev/null && exec "$@"`;
    const inNamespace = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", hide, "sh"];
    const [file = "", ...args] = [...inNamespace, executable, "--resolve"];
    const { error, status, stderr, stdout } = spawnSync(file, args, {
      cwd: project,
      encoding: "utf8",
      env: { ...process.env, HYDRACONF_TRUST: "1" },
    });
    if (error !== undefined || /unshare|mount/.test(stderr)) {
      console.warn(`SKIPPED hiding Node.js: no namespaces here (${stderr.trim()})`);
      return;
    }
    expect([status, stdout]).toEqual([0, expect.stringContaining("half: 10")]);
  });

  it("starts in at most 1.3 times what `node dist/bin/hydraconf.js` takes", () => {
    const args = ["-cp", "conf", "--cfg", "job", "runners=stage1.no-static"];
    const commands = {
      node: [process.execPath, join(root, "dist/bin/hydraconf.js"), ...args],
      own: [executable, ...args],
    };
    const spent = { node: 0, own: 0 };
    // In turns, so that what else the machine does slows both.
    for (let round = 0; round < 30; round++)
      for (const name of round % 2 === 0
        ? (["node", "own"] as const)
        : (["own", "node"] as const)) {
        const before = childTicks();
        expect(run(commands[name], root).status).toBe(0);
        spent[name] += childTicks() - before;
      }
    console.info(`ticks of 30 starts: node ${spent.node}, executable ${spent.own}`);
    expect(spent.own / spent.node).toBeLessThanOrEqual(1.3);
  });
});

/** The processor time of all children that have ended, as proc(5) counts it: others on the machine do not change it much. */
function childTicks(): number {
  const text = readFileSync("/proc/self/stat", "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return Number(fields[13]) + Number(fields[14]);
}

const python = ["python3", "/usr/bin/python3"].find(
  (one) => spawnSync(one, ["-c", "import ensurepip, venv"]).status === 0,
);
if (python === undefined) console.warn("SKIPPED the wheel: no Python here has venv");

test.skipIf(!isHere || python === undefined)("pip installs the wheel, and the command runs", () => {
  const [wheel = ""] = readdirSync(join(place, "dist")).filter((name) => name.endsWith(".whl"));
  expect(wheel).toMatch(/^hydraconf-[\d.]+-py3-none-manylinux_2_\d+_x86_64\.whl$/);
  const environment = join(place, "environment");
  execFileSync(python ?? "", ["-m", "venv", environment], { stdio: "pipe" });
  const pip = join(environment, "bin", "pip");
  const env = { PATH: "/usr/bin:/bin", HOME: place };
  const quiet = { env, stdio: "pipe" } as const;
  execFileSync(pip, ["install", "--no-index", join(place, "dist", wheel)], quiet);
  const { status, stdout } = run([join(environment, "bin", "hydraconf"), "--resolve"]);
  expect([status, stdout]).toEqual([0, expect.stringContaining("sum: 21")]);
  const shown = execFileSync(pip, ["show", "--files", "hydraconf"], { ...quiet, encoding: "utf8" });
  expect(shown).toContain("licenses/LICENSES-OF-DEPENDENCIES.txt");
  const plugin = hydraPluginFiles(optionsOfWheel(STANDARD_PLUGINS, DEFAULT_DIALECT));
  const folder = /^Location: (.*)$/m.exec(shown)?.[1] ?? "";
  for (const [file, text] of Object.entries(plugin))
    expect(readFileSync(join(folder, file), "utf8")).toBe(text);
  execFileSync(pip, ["uninstall", "--yes", "hydraconf"], quiet);
  expect(readdirSync(join(environment, "bin"))).not.toContain("hydraconf");
  for (const file of Object.keys(plugin)) expect(existsSync(join(folder, file))).toBe(false);
});
