import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { nativeProgram } from "./programs.ts";

/**
 * Programs of `native/fixtures`, compiled when a test wants them and kept under `build/fixtures`
 * until a source changes: `npm start` has no use for them, so binding.gyp does not know them.
 */

const native = fileURLToPath(new URL("../../native", import.meta.url));
const builds = fileURLToPath(new URL("../../build/fixtures", import.meta.url));

const WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror"];

/** Which NVTX a fixture is built over. */
export type Client = "own client" | "nvtx3 headers";

interface Tools {
  readonly compiler: readonly string[];
  /** Directory of the toolkit's NVTX headers; null without any. */
  readonly nvtxInclude: string | null;
}

function findTools(): Tools | null {
  const found = JSON.parse(
    execFileSync("python3", [join(native, "detect.py"), "all"], { encoding: "utf8" }),
  ) as {
    compiler: { command: string } | null;
    nvtx: { include: string } | null;
  };
  if (found.compiler === null) return null;
  return {
    compiler: found.compiler.command.split(" "),
    nvtxInclude: found.nvtx?.include ?? null,
  };
}

const tools = findTools();

/** Directory of the toolkit's CUPTI headers; null without any. */
export function cuptiInclude(): string | null {
  const toolkit = tools?.nvtxInclude;
  if (toolkit === null || toolkit === undefined) return null;
  const places = [toolkit, join(toolkit, "../extras/CUPTI/include")];
  return places.find((place) => existsSync(join(place, "cupti.h"))) ?? null;
}

/** The clients that can be built here; says which cannot and why. */
export function availableClients(what: string): Client[] {
  if (tools === null) {
    console.warn(`SKIPPED ${what}: no C++ compiler on this machine`);
    return [];
  }
  if (tools.nvtxInclude === null) {
    console.warn(
      `SKIPPED ${what} over NVIDIA's headers: no nvtx3/nvToolsExt.h (NVTX_ROOT names it)`,
    );
    return ["own client"];
  }
  return ["own client", "nvtx3 headers"];
}

/** Directory of NVIDIA's headers; null without them. */
export const nvtxInclude = (): string | null => tools?.nvtxInclude ?? null;

/**
 * Compiles one source of `native/fixtures`, or all of one of its folders, into one program.
 *
 * @param flags for the compiler, before the source
 * @returns path of the program
 * @throws with the compiler's output when it does not compile
 */
export async function buildFixture(
  source: string,
  client: Client,
  flags: readonly string[] = [],
): Promise<string> {
  if (tools === null) throw new Error("no compiler: ask availableClients() first");
  const include =
    client === "own client" ? ["-DNVTX_OWN_CLIENT=1"] : ["-isystem", tools.nvtxInclude ?? ""];
  // The driver for C++ takes .c files for C++ as well: which language it is, the caller says.
  const language = source.endsWith(".c") ? [] : ["-std=c++17"];
  const place = join(native, "fixtures", source);
  const sources = statSync(place).isFile()
    ? [place]
    : readdirSync(place)
        .filter((name) => name.endsWith(".cc"))
        .sort()
        .map((name) => join(place, name));
  const argv = [...tools.compiler, ...language, "-O1", "-pthread", ...WARNINGS, `-I${native}`];
  argv.push(...include, ...flags, ...sources, "-ldl");

  const key = createHash("sha256").update(JSON.stringify(argv)).update(SOURCES_HASH).digest("hex");
  const output = join(builds, `${source}-${key.slice(0, 16)}`);
  if (existsSync(output)) return output;
  mkdirSync(dirname(output), { recursive: true });
  const [command = "", ...rest] = argv;
  const unfinished = `${output}.${process.pid}`;
  await execa(command, [...rest, "-o", unfinished]);
  renameSync(unfinished, output);
  return output;
}

/** The recorder with a sanitizer of the compiler in it, for programs that have the same one. */
export async function buildSanitizedRecorder(sanitizer: string): Promise<string> {
  if (tools === null) throw new Error("no compiler: ask availableClients() first");
  const folders = ["region_recorder", "region_recorder/gpu"].map((folder) => join(native, folder));
  const sources = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => /\.(cc|hpp)$/.test(name))
      .sort()
      .map((name) => join(folder, name)),
  );
  const argv = [
    ...[...tools.compiler, "-std=gnu++17", "-O2", "-g", "-fPIC", "-shared", "-pthread"],
    ...[`-fsanitize=${sanitizer}`, "-fno-sanitize-recover=all", "-fno-exceptions", "-fno-rtti"],
    ...["-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", `-I${native}`, "-Wl,-z,nodelete,-z,now"],
    ...sources.filter((name) => name.endsWith(".cc")),
    "-ldl",
  ];
  const hash = createHash("sha256").update(JSON.stringify(argv)).update(SOURCES_HASH);
  for (const source of sources) hash.update(readFileSync(source));
  const folder = join(builds, `recorder-${hash.digest("hex").slice(0, 16)}`);
  const output = join(folder, "region_recorder.so");
  if (existsSync(output)) return output;
  mkdirSync(folder, { recursive: true });
  const [command = "", ...rest] = argv;
  const unfinished = `${output}.${process.pid}`;
  await execa(command, [...rest, "-o", unfinished]);
  renameSync(unfinished, output);
  return output;
}

const RECURSIVE = { recursive: true, withFileTypes: true } as const;

/** Of what fixtures include. */
const SOURCES_HASH = sourcesHash();

function sourcesHash(): string {
  const hash = createHash("sha256");
  const files = new Map<string, string>();
  for (const folder of ["common", "nvtx", "cupti", "fixtures"]) {
    for (const entry of readdirSync(join(native, folder), RECURSIVE)) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      files.set(relative(native, path), path);
    }
  }
  for (const [name, path] of [...files].sort()) hash.update(name).update(readFileSync(path));
  return hash.digest("hex");
}

/** The environment that makes a program record into `directory`. */
export async function recorderEnvironment(directory: string): Promise<Record<string, string>> {
  return {
    NVTX_INJECTION64_PATH: await nativeProgram("region_recorder.so"),
    HYDRACONF_RECORDER_DIR: directory,
  };
}
