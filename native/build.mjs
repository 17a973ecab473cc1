// Builds the native part with node-gyp, when it is not built yet or its sources have changed.
//
// Plain JavaScript beside the sources it builds: a fresh clone runs it before any TypeScript is
// compiled, an installed package ships it, and the commands import it at run time when they first
// need a native program. Types: build.d.mts.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, realpathSync } from "node:fs";
import { cp, link, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { availableParallelism, homedir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** What the environment can change about the build: another value is another build. */
const BUILD_ENVIRONMENT = [
  "CXX",
  "CXXFLAGS",
  "CPPFLAGS",
  "LDFLAGS",
  "NVCC",
  "CUDA_HOME",
  "CUDA_PATH",
  "NVTX_ROOT",
  "CUDNN_ROOT",
  "HYDRACONF_CUDA",
];

const SOURCE_FILE = /\.(cc|hpp|inl|h|cu|py|gypi|gyp)$/;

/** Raised for everything that can go wrong here; `message` is for people. */
export class NativeBuildError extends Error {
  constructor(message, log = "", hint = null) {
    super(message);
    this.name = "NativeBuildError";
    /** What node-gyp and the compiler printed. */
    this.log = log;
    /** What to do about it; null: see that the tools that are needed are there. */
    this.hint = hint;
  }
}

/**
 * Whether the native part stands ready, without running anything: reads the sources and compares
 * them with what the last build recorded. A package that this user may not write to can have been
 * built by who installed it.
 */
export async function nativeStatus(root, options = {}) {
  const sources = await sourcesFingerprint(root, options);
  const place = buildPlace(root, options);
  const own = await statusAt(place, sources);
  if (own.state === "ready" || options.out !== undefined || place.dir === root) return own;
  const shared = await statusAt(placeIn(root), sources);
  return shared.state === "ready" ? shared : own;
}

async function statusAt({ binDir, infoFile }, sources) {
  const info = await readInfo(infoFile);
  const ready = info !== null && info.sources === sources && (await outputsExist(binDir, info));
  return { state: ready ? "ready" : info === null ? "absent" : "stale", binDir, info };
}

/**
 * Makes the native part ready and says where it is. Quick when nothing changed: no compiler and no
 * node-gyp is started. Throws NativeBuildError.
 */
export async function buildNative(request) {
  const { root, quiet = false, log = (line) => console.error(line), ...options } = request;
  const say = quiet ? () => {} : log;
  const place = buildPlace(root, options);
  const detected = await detect(root);
  const sources = await sourcesFingerprint(root, options);
  const current = async () => {
    const info = await readInfo(place.infoFile);
    const same =
      info !== null &&
      info.sources === sources &&
      JSON.stringify(info.detected) === JSON.stringify(detected) &&
      (await outputsExist(place.binDir, info));
    return same ? info : null;
  };

  const before = await current();
  if (before !== null) return { built: false, binDir: place.binDir, info: before };

  const buildDir = join(place.dir, "build");
  const buildIt = () =>
    withLock(join(buildDir, "native-build.lock"), say, async () => {
      // Another process may have built it while this one waited.
      const meanwhile = await current();
      if (meanwhile !== null) return { built: false, binDir: place.binDir, info: meanwhile };

      say(
        `building the native part (${summary(detected, options, gpuPlan(detected))}) in ${place.binDir}`,
      );
      // Until the new build is complete there is none: an interrupted one must not look ready.
      await rm(place.infoFile, { force: true });
      if (place.dir !== root) await copySources(root, place.dir);
      const gpu = await runWithOrWithoutGpu(root, place.dir, detected, options, say);
      const info = {
        version: detected.version,
        sources,
        detected,
        backends: gpu.built ? ["cpu", "cuda"] : ["cpu"],
        gpu,
        nvtx: usesOwnClient(detected, options) ? "own client" : "nvtx3 headers",
        sanitize: options.sanitize ?? null,
        summary: summary(detected, options, gpu),
        outputs: await outputNames(place.binDir),
      };
      await writeAtomically(place.infoFile, `${JSON.stringify(info, null, 2)}\n`);
      return { built: true, binDir: place.binDir, info };
    });
  try {
    await mkdir(buildDir, { recursive: true });
    return await buildIt();
  } catch (error) {
    throw error.syscall === undefined ? error : notWritten(place.dir, error);
  }
}

/**
 * Where the build happens: `out` if given, else the package itself, else (an installed package that
 * this user may not write to) a directory of the user's cache, one per version.
 */
function buildPlace(root, { out }) {
  return placeIn(out !== undefined ? resolve(out) : isWritable(root) ? root : cacheDir(root));
}

function placeIn(dir) {
  const binDir = join(dir, "build", "Release");
  return { dir, binDir, infoFile: join(binDir, "build-info.json") };
}

/** A directory that cannot be made or written to, a disk that is full. */
const notWritten = (dir, error) =>
  new NativeBuildError(
    `the native part cannot be built in ${dir}: ${error.message}`,
    "",
    "XDG_CACHE_HOME names the directory that it is built below where the package may not be written to",
  );

function isWritable(directory) {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function cacheDir(root) {
  const { version } = createRequire(join(root, "package.json"))("./package.json");
  const base = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  return join(base, "hydraconf", version);
}

/** A hash of everything that decides the result, the compiler's own state aside. */
async function sourcesFingerprint(root, options) {
  const hash = createHash("sha256");
  const add = (name, text) => hash.update(`${name}\0${text.length}\0`).update(text);
  for (const file of await sourceFiles(root)) add(relative(root, file), await readFile(file));
  for (const name of BUILD_ENVIRONMENT) add(name, process.env[name] ?? "");
  add("options", JSON.stringify([options.ownNvtx ?? false, options.sanitize ?? ""]));
  return hash.digest("hex").slice(0, 32);
}

async function sourceFiles(root) {
  const entries = await readdir(join(root, "native"), { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && SOURCE_FILE.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  return [join(root, "binding.gyp"), join(root, "package.json"), ...files.sort()];
}

async function readInfo(path) {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch {
    // Absent, unreadable or cut off all mean the same: build it.
    return null;
  }
}

async function outputsExist(binDir, info) {
  return info.outputs.every((name) => existsSync(join(binDir, name)));
}

/** Programs and loadable libraries, not the archives they were linked from. */
async function outputNames(binDir) {
  const entries = await readdir(binDir, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /^[^.]+(\.so)?$/.test(entry.name))
    .map((entry) => entry.name)
    .sort();
}

/** What native/detect.py found: compiler, nvcc, NVTX headers, cuDNN. */
async function detect(root) {
  const result = await run("python3", [join(root, "native", "detect.py"), "all"], { cwd: root });
  if (result.code === null)
    throw new NativeBuildError(
      "python3 is needed to build the native part (node-gyp runs on it); it was not found",
    );
  if (result.code !== 0) throw new NativeBuildError(result.output.trim());
  const detected = JSON.parse(result.output);
  if (detected.compiler === null)
    throw new NativeBuildError(
      "a C++17 compiler is needed to build the native part; none was found (install g++, or name one in CXX)",
    );
  return detected;
}

const usesOwnClient = (detected, options) => options.ownNvtx === true || detected.nvtx === null;

/** What is to be built for GPUs: `reason` says why nothing, or why without cuDNN. */
function gpuPlan({ cuda, cudnn }) {
  if (!cuda.build) return { built: false, targets: null, libraries: [], reason: cuda.reason };
  const unusable = cudnn === null ? "no cuDNN" : cudnn.unusable;
  return {
    built: true,
    targets: cuda.targets,
    libraries: unusable === null ? ["cudnn", "cuda"] : ["cuda"],
    reason: unusable,
  };
}

/** One line for people: what was found, and what is made of it. */
function summary(detected, options, gpu) {
  const { compiler, nvcc, nvtx, cudnn } = detected;
  const headers = nvtx?.cuda ? `nvtx3 headers of CUDA ${nvtx.cuda}` : "nvtx3 headers of NVTX_ROOT";
  return [
    `${compiler.command} ${compiler.version ?? ""}`.trim(),
    "CPU backend",
    ...(gpu.built ? [`GPU backend for ${gpu.targets} by nvcc ${nvcc.version}`] : []),
    ...(gpu.libraries.includes("cudnn") ? [`cuDNN ${cudnn.version}`] : []),
    ...(gpu.reason === null ? [] : [gpu.built ? gpu.reason : `no GPU backend: ${gpu.reason}`]),
    usesOwnClient(detected, options) ? "NVTX by our own client" : headers,
  ].join("; ");
}

/**
 * Builds with the GPU backend where it is planned. A toolkit that does not work with this compiler
 * must not keep the rest from being built, unless the GPU backend was asked for.
 */
async function runWithOrWithoutGpu(root, dir, detected, options, say) {
  const plan = gpuPlan(detected);
  try {
    await runNodeGyp(root, dir, options, gpuDefinitions(detected, plan), say);
    return plan;
  } catch (error) {
    if (!plan.built || detected.cuda.required || !(error instanceof NativeBuildError)) throw error;
    const none = { built: false, targets: null, libraries: [], reason: "it could not be compiled" };
    await runNodeGyp(root, dir, options, gpuDefinitions(detected, none), say);
    // Only now: had the rest failed as well, the GPU backend would not have been to blame.
    say(
      `the GPU backend could not be compiled, so there is only the CPU backend (HYDRACONF_CUDA=1 makes this an error, HYDRACONF_CUDA=0 leaves it out):\n${error.message}`,
    );
    return none;
  }
}

function gpuDefinitions({ nvcc, cuda, cudnn }, plan) {
  if (!plan.built) return ["-Dcuda=0", "-Dcudnn=0"];
  return [
    "-Dcuda=1",
    `-Dnvcc=${nvcc.path}`,
    `-Dcuda_include=${nvcc.include}`,
    `-Dcuda_library=${nvcc.library}`,
    `-Dcuda_gencode=${cuda.gencode.join(" ")}`,
    `-Dcuda_targets=${cuda.targets}`,
    ...(plan.libraries.includes("cudnn")
      ? [
          "-Dcudnn=1",
          `-Dcudnn_include=${cudnn.include}`,
          `-Dcudnn_library=${cudnn.library}`,
          `-Dcudnn_search=${cudnn.search.join(":")}`,
        ]
      : ["-Dcudnn=0"]),
  ];
}

/** Times are kept: make then compiles again only what changed. */
async function copySources(root, to) {
  await rm(join(to, "native"), { recursive: true, force: true });
  for (const name of ["native", "binding.gyp", "package.json"])
    await cp(join(root, name), join(to, name), { recursive: true, preserveTimestamps: true });
}

async function runNodeGyp(root, dir, options, gpu, say) {
  const nodeGyp = createRequire(join(root, "package.json")).resolve("node-gyp/bin/node-gyp.js");
  const headers = nodeHeaders();
  if (headers === null)
    say("this Node.js brings no headers: node-gyp will download them from nodejs.org");
  // Warnings are errors where this code is developed. Where it is only used, a newer compiler may
  // have new ones; and GCC warns about constructs that it does not instrument.
  const strict = existsSync(join(root, ".git")) && !options.sanitize;
  const definitions = [
    `-Duse_own_nvtx=${options.ownNvtx ? 1 : 0}`,
    `-Dsanitize=${options.sanitize ?? ""}`,
    `-Dwarnings_as_errors=${strict ? 1 : 0}`,
    ...gpu,
  ];
  const nodedir = headers === null ? [] : [`--nodedir=${headers}`];
  const steps = [
    ["configure", ...nodedir, "--", ...definitions],
    ["build", ...nodedir, "--jobs", String(availableParallelism())],
  ];
  for (const step of steps) {
    const result = await run(process.execPath, [nodeGyp, ...step], { cwd: dir });
    if (result.code !== 0)
      throw new NativeBuildError(
        `node-gyp ${step[0]} failed:\n${importantLines(result.output)}`,
        result.output,
      );
  }
}

/**
 * The prefix whose headers belong to the running Node, so that nothing has to be downloaded. Debian
 * puts them under include/nodejs, where node-gyp finds them when given that directory.
 */
function nodeHeaders() {
  const prefixes = [process.execPath, realpathSync(process.execPath)].map((path) =>
    dirname(dirname(path)),
  );
  for (const prefix of prefixes) {
    const header = join(prefix, "include", "node", "node.h");
    if (existsSync(header) && existsSync(join(dirname(header), "common.gypi"))) return prefix;
    const debian = join(prefix, "include", "nodejs");
    if (existsSync(join(debian, "common.gypi"))) return debian;
  }
  return null;
}

/** The compiler's and gyp's own words, without node-gyp's chatter around them. */
function importantLines(output) {
  const lines = output
    .split("\n")
    .filter((line) => !/^gyp (info|ERR! (stack|System|cwd|node|command|not ok))/.test(line));
  const first = lines.findIndex((line) => /error|Error/.test(line));
  return lines
    .slice(Math.max(0, first - 2), first < 0 ? undefined : first + 30)
    .join("\n")
    .trim();
}

/** Runs a program without a shell; `code` is null where it could not be started. */
function run(program, args, { cwd }) {
  return new Promise((done) => {
    const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.on("error", () => done({ code: null, output }));
    child.on("close", (code, signal) => done({ code: code ?? (signal ? 1 : 0), output }));
  });
}

/**
 * One build at a time per directory: tests and sweeps start several at once. The lock file holds
 * the builder's process id; a dead builder's lock is taken over.
 */
async function withLock(path, say, action) {
  const own = `${path}.${process.pid}`;
  await writeFile(own, String(process.pid));
  try {
    for (let waited = false; !(await takeLock(own, path)); waited = true) {
      if (!waited) say("another process is building the native part; waiting for it");
      await delay(200);
    }
    try {
      return await action();
    } finally {
      await rm(path, { force: true });
    }
  } finally {
    await rm(own, { force: true });
  }
}

/** A link appears with its content or not at all: nobody ever sees a lock without its owner. */
async function takeLock(own, path) {
  try {
    await link(own, path);
    return true;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
  const holder = await readFile(path, "utf8").catch(() => null);
  if (holder === null || isAlive(Number(holder))) return false;
  // Move it aside before removing it, and look again: somebody else may have taken it over.
  const aside = `${own}.stale`;
  await rename(path, aside).catch(() => {});
  const moved = await readFile(aside, "utf8").catch(() => holder);
  if (moved !== holder) await link(aside, path).catch(() => {});
  await rm(aside, { force: true });
  return false;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives, as somebody else's.
    return error.code === "EPERM";
  }
}

async function writeAtomically(path, text) {
  const temporary = `${path}.tmp${process.pid}`;
  await writeFile(temporary, text);
  await rename(temporary, path);
}
