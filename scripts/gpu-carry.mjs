// Packs what `deep-profile` needs on a GPU machine that has neither Node.js nor a network:
//
//   node scripts/gpu-carry.mjs [--out FOLDER]
//   node scripts/gpu-carry.mjs --nsys [--out FOLDER]
//
// writes FOLDER/hydraconf.tar.xz (default: .carry, which git ignores): this Node.js, make, and the package as
// built, with the modules that its bundles do not hold.
// scripts/gpu-check.py unpacks and uses it there; the whole is some 26 MiB. Run `npm run build:ts` first.
//
// With --nsys it packs instead what Nsight Systems needs to record and to export, from the tools that tests use,
// into FOLDER/nsys.tar.xz (default: .carry-nsys), for a machine that has none or one that makes no reports: some
// 32 MiB, in another command than the package. NVIDIA's licence allows use alone.
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { scriptArguments } from "./script-arguments.mjs";

const root = fileURLToPath(new URL("..", import.meta.url)).replace(/\/$/, "");
const MIB = 2 ** 20;

/** What a machine is sent at once, the working tree included. */
const MOST_BYTES = 64 * MIB;
const PACKAGE = ["dist", "conf", "schemas", "native", "binding.gyp", "package.json"];
/** Of these, what no command loads. */
const UNUSED = new Set([join(root, "native", "fixtures"), join(root, "dist", "cjs")]);
/** Loaded or run at run time from node_modules: all else is in the bundles (scripts/bundle.mjs). */
const MODULES = ["node-gyp", "node-sqlite3-wasm"];
/** Of Nsight Systems, what runs beside the program. */
const NSYS_TARGET = [
  ...["nsys", "nsys-launcher", "launcher", "libLauncher64.so", "libnvlog.so", "CudaGpuInfoDumper"],
  ...[
    "libToolsInjection64.so",
    "libToolsInjectionProxy64.so",
    "libToolsInjectionMemoryAllocator.so",
  ],
  ...["libLinuxKeyboardInterceptorProxy.so", "GpuMetrics"],
];
/** Libraries of the C library itself, which the machine has. */
const SYSTEM = /^lib(?:c|m|dl|pthread|rt|resolv|util)\.so/;

const { values } = scriptArguments(import.meta.url, {
  options: { out: { type: "string" }, nsys: { type: "boolean", default: false } },
});
if (process.arch !== "x64")
  fail(`programs of ${process.arch} do not run on the GPU machines, which are x64`);
const staging = mkdtempSync(join(tmpdir(), "gpu-carry-"));
try {
  const target = values.nsys ? carryNsys() : carryPackage();
  const bytes = statSync(target).size;
  const tree = bytesOfTree();
  console.log(`${target}: ${inMib(bytes)} MiB, with the working tree ${inMib(bytes + tree)} MiB`);
  if (bytes + tree > MOST_BYTES)
    fail(`more than the ${MOST_BYTES / MIB} MiB that a machine is sent`);
} finally {
  rmSync(staging, { recursive: true, force: true });
}

/** Of the files that travel beside what is packed: those that git does not ignore. */
function bytesOfTree() {
  const listing = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  return execFileSync("git", ["-C", root, ...listing], { encoding: "utf8" })
    .split("\0")
    .filter((name) => name !== "" && existsSync(join(root, name)))
    .reduce((bytes, name) => bytes + statSync(join(root, name)).size, 0);
}

function inMib(bytes) {
  return (bytes / MIB).toFixed(1);
}

function carryPackage() {
  packNode(join(staging, "node"));
  packTool("make", join(staging, "tools"));
  packPackage(join(staging, "package"));
  const parts = ["node", "package", ...(existsSync(join(staging, "tools")) ? ["tools"] : [])];
  return compress(resolve(values.out ?? join(root, ".carry")), "hydraconf.tar.xz", parts);
}

function packNode(folder) {
  const program = realpathSync(process.execPath);
  mkdirSync(join(folder, "bin"), { recursive: true });
  const copy = join(folder, "bin", "node");
  // Symbols for debuggers are an eighth of it.
  if (spawnSync("strip", ["-o", copy, program]).status !== 0) copyFileSync(program, copy);
  chmodSync(copy, 0o755);
}

/** A tool that a bare machine may lack; ours serves where the C library is not older than ours. */
function packTool(name, folder) {
  const found = spawnSync("which", [name], { encoding: "utf8" }).stdout.trim();
  if (found === "") return;
  mkdirSync(folder, { recursive: true });
  copyFileSync(realpathSync(found), join(folder, name));
}

function packPackage(folder) {
  if (!existsSync(join(root, "dist", "bin", "deep-profile.js")))
    fail("build first: npm run build:ts");
  for (const name of PACKAGE)
    cpSync(join(root, name), join(folder, name), {
      recursive: true,
      preserveTimestamps: true,
      filter: (path) => !UNUSED.has(path) && !path.endsWith(".map"),
    });
  for (const name of withDependencies(MODULES))
    cpSync(join(root, "node_modules", name), join(folder, "node_modules", name), {
      recursive: true,
      dereference: true,
    });
}

/** Of the modules and all that they need, in the order found. */
function withDependencies(names) {
  const found = new Set();
  const waiting = [...names];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    const file = join(root, "node_modules", name, "package.json");
    const { dependencies = {} } = JSON.parse(readFileSync(file, "utf8"));
    // A module in a module's own folder travels with that one.
    waiting.push(
      ...Object.keys(dependencies).filter(
        (other) => !existsSync(join(root, "node_modules", name, "node_modules", other)),
      ),
    );
  }
  return found;
}

function carryNsys() {
  const bin =
    process.env.HYDRACONF_NSIGHT ||
    execFileSync(process.execPath, [join(root, "scripts", "install-nsight.mjs")], {
      encoding: "utf8",
    }).trim();
  if (!existsSync(join(bin, "nsys"))) fail("there is no Nsight Systems to pack");
  const from = resolve(realpathSync(join(bin, "nsys")), "..");
  const target = join(staging, "nsys", "target-linux-x64");
  // The newest CUPTI alone: a new driver takes no other.
  const cupti = readdirSync(from)
    .filter((name) => /^libcupti\.so\.\d+\.\d+$/.test(name))
    .sort((a, b) => a.localeCompare(b, undefined, { numeric: true }));
  for (const name of [...NSYS_TARGET, ...cupti.slice(-1)])
    if (existsSync(join(from, name)))
      cpSync(join(from, name), join(target, name), { recursive: true, dereference: true });
  // What makes the report of a recording, with all that it loads: nsys looks for it beside itself.
  const importer = join(from, "..", "host-linux-x64", "QdstrmImporter");
  const host = join(staging, "nsys", "host-linux-x64");
  mkdirSync(host, { recursive: true });
  for (const file of [importer, ...librariesOf(importer)])
    copyFileSync(realpathSync(file), join(host, basename(file)));
  return compress(resolve(values.out ?? join(root, ".carry-nsys")), "nsys.tar.xz", ["nsys"]);
}

/** Paths of what a program loads, without the C library's. */
function librariesOf(program) {
  const loaded = execFileSync("ldd", [program], { encoding: "utf8" });
  return [...loaded.matchAll(/^\s(\S+) => (\/\S+)/gm)].flatMap(([, name, path]) =>
    SYSTEM.test(name) ? [] : [path],
  );
}

function compress(out, name, parts) {
  mkdirSync(out, { recursive: true });
  const target = join(out, name);
  const unfinished = `${target}.${process.pid}`;
  try {
    execFileSync("tar", ["-C", staging, "-I", "xz -6 -T0", "-cf", unfinished, ...parts]);
    renameSync(unfinished, target);
  } finally {
    rmSync(unfinished, { force: true });
  }
  return target;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
