// Unpacks NVIDIA's Nsight Systems and Nsight Compute for the tests that run the real tools, and
// prints the folder of `nsys` and `ncu`. They come from Debian's non-free component, through the
// mirror that this machine's own apt sources name, and are unpacked into the user's cache: nothing is
// installed, apt's own state stays untouched, and nothing lands in the repository (NVIDIA's licence
// allows use, not redistribution). What is unpacked already is used as it stands.
//
// The -target packages alone do not do: nsys's importer and ncu's launcher and sections are in the
// others. 530 MB are fetched once.
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { scriptArguments } from "./script-arguments.mjs";

scriptArguments(import.meta.url);

/** The Debian release whose tools are used: newer than what older releases have. */
const RELEASE = "trixie";
const TOOLS = [
  "nsight-systems-target",
  "nsight-systems",
  "nsight-compute-target",
  "nsight-compute",
];
/** Libraries that the tools load and a small machine may lack; of this machine's own release. */
const LIBRARIES = [
  { package: "libssh-4", file: "libssh.so.4" },
  { package: "libpfm4", file: "libpfm.so.4" },
];
const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";

const cache = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
const destination = join(cache, "hydraconf", "nsight", RELEASE);

if (!existsSync(destination)) install();
if (existsSync(destination)) process.stdout.write(`${join(destination, "usr", "bin")}\n`);

function install() {
  const started = Date.now();
  console.error(`setting up: unpacking Nsight Systems and Nsight Compute into ${destination}`);
  const work = mkdtempSync(join(tmpdir(), "nsight-"));
  mkdirSync(join(destination, ".."), { recursive: true });
  // Beside its place, so that the renaming is one step: a folder that is there is complete.
  const staging = mkdtempSync(`${destination}.`);
  try {
    for (const file of download(work)) execFileSync("dpkg-deb", ["-x", file, staging]);
    joinHalves(staging);
    requireRunning(staging);
    renameSync(staging, destination);
    console.error(`unpacked in ${Math.round((Date.now() - started) / 1000)} s`);
  } catch (error) {
    fail(error);
  } finally {
    rmSync(work, { recursive: true, force: true });
    rmSync(staging, { recursive: true, force: true });
  }
}

/** Downloads the packages with an apt state of its own; returns their paths. */
function download(work) {
  const own = codename();
  const mirror = mirrorOf(own);
  const signed = `[signed-by=${KEYRING}]`;
  writeFileSync(
    join(work, "sources.list"),
    `deb ${signed} ${mirror} ${RELEASE} non-free\ndeb ${signed} ${mirror} ${own} main\n`,
  );
  const lists = join(work, "lists");
  const packages = join(work, "packages");
  for (const folder of [join(lists, "partial"), join(work, "cache"), packages])
    mkdirSync(folder, { recursive: true });
  const settings = {
    "Dir::Etc::sourcelist": join(work, "sources.list"),
    "Dir::Etc::sourceparts": "-",
    "Dir::State::lists": lists,
    "Dir::Cache": join(work, "cache"),
    "APT::Sandbox::User": "",
    "Acquire::Retries": "3",
    "Acquire::Languages": "none",
  };
  const options = Object.entries(settings).flatMap(([key, value]) => ["-o", `${key}=${value}`]);
  const apt = (...args) =>
    execFileSync("apt-get", [...options, "-q", ...args], {
      cwd: packages,
      stdio: ["ignore", 2, 2],
    });
  const missing = LIBRARIES.filter(({ file }) => !isInstalled(file)).map((one) => one.package);
  apt("update");
  apt("download", ...TOOLS, ...missing);
  return readdirSync(packages).map((name) => join(packages, name));
}

function codename() {
  const found = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync("/etc/os-release", "utf8"));
  if (found === null) throw new Error("/etc/os-release names no release");
  return found[1];
}

/** Where this machine gets its own release from. */
function mirrorOf(release) {
  const targets = execFileSync(
    "apt-get",
    ["indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"],
    { encoding: "utf8" },
  );
  const mirror = targets
    .split("\n")
    .map((line) => line.split(" "))
    .find(([, suite, component]) => suite === release && component === "main")?.[0];
  if (mirror === undefined) throw new Error(`apt's sources name no mirror of ${release}`);
  return mirror;
}

function isInstalled(library) {
  const { stdout } = spawnSync("/sbin/ldconfig", ["-p"], { encoding: "utf8" });
  return stdout?.includes(`${library} `) ?? false;
}

/** An installed package finds its other half by an absolute path; an unpacked one needs a link. */
function joinHalves(staging) {
  const libraries = join(staging, "usr", "lib");
  const [architecture] = readdirSync(libraries).filter((name) => name.endsWith("-linux-gnu"));
  const systems = join(libraries, "nsight-systems");
  const hosts = readdirSync(systems).filter((name) => name.startsWith("host-"));
  for (const host of hosts) {
    symlinkSync(
      join("..", "..", "nsight-systems", host),
      join(libraries, architecture, "nsight-systems", host),
    );
    // The modules of `nsys stats`, which an installed package puts on Python's own path.
    for (const module of ["nsysstats.py", "gpustats.py"])
      symlinkSync(
        join("..", "..", "..", "..", "python3", "dist-packages", module),
        join(systems, host, "python", "lib", module),
      );
    for (const { file } of LIBRARIES)
      if (existsSync(join(libraries, architecture, file)) && !existsSync(join(systems, host, file)))
        symlinkSync(join("..", "..", architecture, file), join(systems, host, file));
  }
}

/** Asks each tool for its version, and nsys's importer, too: it loads the most libraries. */
function requireRunning(staging) {
  const systems = join(staging, "usr", "lib", "nsight-systems");
  const importers = readdirSync(systems)
    .filter((name) => name.startsWith("host-"))
    .map((name) => join(systems, name, "QdstrmImporter"));
  const bin = join(staging, "usr", "bin");
  for (const program of [join(bin, "nsys"), join(bin, "ncu"), ...importers]) {
    const { status, stdout, stderr, error } = spawnSync(program, ["--version"], {
      encoding: "utf8",
    });
    if (status === 0) continue;
    throw new Error(`${program} does not run: ${error?.message ?? `${stdout}${stderr}`.trim()}`);
  }
}

function fail(error) {
  console.error(`\nThe Nsight tools could not be unpacked: ${error.message}`);
  console.error("They are needed for the tests that run the real ncu and nsys.");
  process.exitCode = 1;
}
