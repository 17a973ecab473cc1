// Records what this version writes: a sweep, a settings file, a run and a comparison, in tests/fixtures/versions/VERSION. Later
// versions have to read it: tests/e2e/earlier-versions.test.ts. Build first; run it once more before a release (CONTRIBUTING.md).
import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { scriptArguments } from "./script-arguments.mjs";
import { root } from "./setup.mjs";

scriptArguments(import.meta.url);

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const project = realpathSync(mkdtempSync(join(tmpdir(), "hydraconf-version-")));
const target = join(root, "tests", "fixtures", "versions", version);

write("conf/config.yaml", "defaults:\n- db: mysql\n- _self_\nlr: 1\nhalf: ${half:${lr}}\n");
write("conf/db/mysql.yaml", "host: localhost\nuser: ${oc.env:DB_USER}\n");
write(
  "hydraconf.yaml",
  `plugins: [./plugin.mjs]
resolvers:
  half: ./resolvers.mjs
env:
  DB_USER: nobody
`,
);
write(
  "plugin.mjs",
  "export const plugin = { name: 'ours', configs: { 'db/plugged': { value: { host: 'plugged' } } } };\n",
);
write("resolvers.mjs", "export const half = (value) => value / 2;\n");
write("composed.yaml", run("hydraconf", "--cfg", "job", "--resolve", "+db@other=plugged"));
// The second job fails, and the third is not begun then.
run(
  ...["hydraconf", "run", "-m", "lr=1,2,3", "hydra.sweep.dir=sweep", "hydra/launcher=local"],
  ...["hydra.launcher.n_jobs=1", "hydra.launcher.on_failure=stop", "--"],
  ...["sh", "-c", 'test "$1" != 2 || test -e repaired', "sh", "${lr}"],
);
run("deep-profile", "infer.iterations=1", "hydra.run.dir=run");
write("comparison.json", run("deep-profile", "compare", "run", "run", "--json"));

rmSync(target, { recursive: true, force: true });
cpSync(project, target, { recursive: true, filter: isKept });
rmSync(project, { recursive: true });
for (const file of readdirSync(target, { recursive: true, withFileTypes: true }))
  if (file.isFile()) neutralize(join(file.parentPath, file.name));

/** Of a run, what its reports are made of, and the first of them. */
function isKept(path) {
  const within = path.slice(project.length);
  return (
    !/^\/run\/recorder\/regions\/(?!report\.json$)/.test(within) &&
    !/^\/run\/[^/]+\.md$/.test(within)
  );
}

/** Names in place of what only this machine has. */
function neutralize(file) {
  // The lengths of texts in a recording stand before them.
  const isBinary = file.endsWith(".nvtxrec");
  const packageName = isBinary ? "/package".padEnd(root.length, "_") : "{{package}}";
  const names = [
    [project, "{{project}}"],
    [root, packageName],
    [process.execPath, "{{node}}"],
    [JSON.stringify(hostname()), '"host"'],
  ];
  const text = readFileSync(file, "latin1");
  const neutral = names.reduce((all, [path, name]) => all.replaceAll(path, name), text);
  writeFileSync(file, neutral, "latin1");
}

function write(name, text) {
  mkdirSync(join(project, name, ".."), { recursive: true });
  writeFileSync(join(project, name), text);
}

/** What a command prints, whether all of its jobs succeed or not. */
function run(command, ...args) {
  const { DB_USER: _, ...env } = process.env;
  try {
    const words = [join(root, "dist", "bin", `${command}.js`), ...args];
    return execFileSync(process.execPath, words, {
      cwd: project,
      encoding: "utf8",
      env: { ...env, XDG_CONFIG_HOME: project, HYDRACONF_TRUST: "1" },
      stdio: ["ignore", "pipe", "pipe"],
    });
  } catch (error) {
    if (args.includes("-m") && error.status === 1) return error.stdout;
    throw error;
  }
}
