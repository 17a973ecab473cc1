// Everything a fresh clone needs before a command can run, each step skipped when nothing it
// depends on has changed. Only Node's own modules: this runs before `npm ci` has.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { constants } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { withLock } from "../native/building/lock.mjs";
import { isInstalled } from "./installed.mjs";
import launcher from "./launcher.cjs";

const { nodeProblem } = launcher;

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamps = join(root, ".stamps");

/** Runs a program in the repository root; a failure ends this process with its exit code. */
export function run(argv, { quiet = false, env = {} } = {}) {
  const [program, ...args] = argv;
  const result = spawnSync(program, args, {
    cwd: root,
    stdio: quiet ? ["ignore", "pipe", "pipe"] : "inherit",
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  if (result.status === 0) return;
  if (quiet) process.stderr.write(`${result.stdout ?? ""}${result.stderr ?? ""}`);
  const why =
    result.error?.message ??
    (result.signal ? `signal ${result.signal}` : `exit code ${result.status}`);
  console.error(`\n${argv.join(" ")}: ${why}`);
  process.exit(result.signal ? 128 + constants.signals[result.signal] : (result.status ?? 1));
}

/** Starts a program that runs beside what this process does; whether it has succeeded. */
export async function runBeside([program, ...args]) {
  const child = spawn(program, args, { cwd: root, stdio: "inherit" });
  const [code, signal] = await once(child, "exit");
  if (code !== 0)
    console.error(`\n${[program, ...args].join(" ")}: ${signal ?? `exit code ${code}`}`);
  return code === 0;
}

/** Locally installed command-line tool, run by this very Node. */
export function tool(packageName, binName = packageName) {
  const directory = join(root, "node_modules", packageName);
  const { bin } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  return [process.execPath, join(directory, typeof bin === "string" ? bin : bin[binName])];
}

/** Hash of the names and contents of files and folders, in a fixed order. */
function fingerprint(paths) {
  const hash = createHash("sha256").update(process.version);
  const visit = (path) => {
    if (!existsSync(path)) return;
    const entries = readdirSyncOrNull(path);
    if (entries === null) hash.update(relative(root, path)).update("\0").update(readFileSync(path));
    else for (const name of entries.sort()) visit(join(path, name));
  };
  for (const path of paths) visit(join(root, path));
  return hash.digest("hex");
}

function readdirSyncOrNull(path) {
  try {
    return readdirSync(path);
  } catch (error) {
    if (error.code === "ENOTDIR") return null;
    throw error;
  }
}

/**
 * Does `work` unless it is done: of several commands in one clone one does it, and the others wait for that. A clone
 * that is set up is not written to.
 */
async function unlessDone(isDone, work) {
  if (isDone()) return;
  mkdirSync(stamps, { recursive: true });
  const lock = join(stamps, "lock");
  const onWait = (host) =>
    console.error(
      `another command${host === null ? "" : ` on ${host}`} is already setting up; waiting for it (${lock})`,
    );
  await withLock(lock, onWait, () => {
    if (!isDone()) work();
  });
}

/** Does `work` unless the inputs are those of the last time it succeeded and its output exists. */
async function unlessFresh(name, inputs, output, work) {
  const stamp = join(stamps, name);
  const isFresh = () =>
    existsSync(stamp) &&
    readFileSync(stamp, "utf8") === fingerprint(inputs) &&
    existsSync(join(root, output));
  await unlessDone(isFresh, () => {
    const current = fingerprint(inputs);
    work();
    writeFileSync(stamp, current);
  });
}

export function requireNode() {
  const problem = nodeProblem(process.version);
  if (problem === null) return;
  console.error(problem);
  process.exit(1);
}

export async function installDependencies() {
  // A link (several worktrees over one installation): `npm ci` would empty what others use.
  if (lstatSync(join(root, "node_modules"), { throwIfNoEntry: false })?.isSymbolicLink()) return;
  await unlessDone(
    () => isInstalled(root),
    () => {
      console.error("setting up: installing dependencies (npm ci)");
      // Under `npm start` npm names its own script; run that one rather than whatever is on PATH.
      const npm = process.env.npm_execpath;
      run([
        ...(npm ? [process.execPath, npm] : ["npm"]),
        "ci",
        "--no-audit",
        "--no-fund",
        "--loglevel=error",
      ]);
    },
  );
}

export async function buildTypeScript({ force = false } = {}) {
  if (force) rmSync(join(stamps, "typescript"), { force: true });
  const loader = pathToFileURL(join(root, "scripts", "typescript-loader.mjs")).href;
  const inputs = [
    "src",
    "schemas",
    "tsconfig.json",
    "tsconfig.build.json",
    "package.json",
    "package-lock.json",
    "scripts/generate.ts",
    "scripts/bundle.mjs",
    "scripts/bundle-library.mjs",
    "scripts/compile-schemas.ts",
    "scripts/bundle-client.mjs",
    "scripts/script-arguments.mjs",
    "scripts/code-cache.cjs",
    "scripts/launcher.cjs",
    "binding.gyp",
  ];
  await unlessFresh("typescript", inputs, "dist/bin/deep-profile.js", () => {
    console.error("setting up: compiling TypeScript");
    run([process.execPath, "--import", loader, join(root, "scripts", "generate.ts")]);
    // Beside the old build, which stays usable until the new one is complete.
    const next = "dist.next";
    rmSync(join(root, next), { recursive: true, force: true });
    // Declarations alone: `npm run typecheck` and `npm test` check the types, of the tests as well.
    const declarations = ["-p", "tsconfig.build.json", "--noCheck", "--outDir", next];
    run([...tool("@typescript/native", "tsc"), ...declarations]);
    run([process.execPath, join(root, "scripts", "bundle-library.mjs"), next]);
    const compileSchemas = join(root, "scripts", "compile-schemas.ts");
    run([process.execPath, "--import", loader, compileSchemas, join(next, "vendor")]);
    run([process.execPath, join(root, "scripts", "bundle-client.mjs"), join(next, "client")]);
    run([process.execPath, join(root, "scripts", "bundle.mjs"), join(next, "bin")]);
    // The packed package has it there: native/building/gyp-file.mjs.
    copyFileSync(join(root, "binding.gyp"), join(root, next, "binding.gyp"));
    rmSync(join(root, "dist"), { recursive: true, force: true });
    renameSync(join(root, next), join(root, "dist"));
  });
}

/** The native build decides for itself whether anything changed: it knows the compiler. */
export function buildNativePart(args = []) {
  run([process.execPath, join(root, "scripts", "native.mjs"), "--quiet-when-ready", ...args]);
}
