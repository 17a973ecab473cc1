// The recorder once more, for programs of the C library musl: where musl's compiler wrapper is installed beside glibc.
import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { run } from "./run.mjs";

const WRAPPER = "musl-gcc";

/** Its name beside region_recorder.so. */
const MUSL_RECORDER = "region_recorder_musl.so";

/** Where it cannot be built there is none: programs of musl then run without it. */
export async function buildMuslRecorder({ dir, binDir, say, signal }) {
  const output = join(binDir, MUSL_RECORDER);
  await rm(output, { force: true });
  const wrapper = (process.env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, WRAPPER))
    .find(existsSync);
  if (wrapper === undefined || process.platform !== "linux") return;
  const sources = await sourcesIn(dir, ["native/region_recorder", "native/region_recorder/gpu"]);
  if (sources.length === 0) return;
  const compiler = process.env.CXX || "g++";
  const included = await run(compiler, ["-E", "-xc++", "-v", "/dev/null"], { cwd: dir, signal });
  const argv = [
    // The headers of libstdc++, of which nothing is linked; they ask glibc's macro for its version.
    ...[...included.output.matchAll(/^ (\S*\/c\+\+\/\S*)$/gm)].map(([, path]) => `-isystem${path}`),
    ...["-D__GLIBC_PREREQ(major,minor)=0", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64"],
    ...["-std=gnu++17", "-O2", "-fPIC", "-fvisibility=hidden", "-fno-exceptions", "-fno-rtti"],
    ...["-Inative", "-shared", "-Wl,-z,nodelete", "-Wl,-z,now", "-nodefaultlibs"],
    ...sources,
    ...["-lc", "-lgcc", "-o", output],
  ];
  const env = { ...process.env, REALGCC: compiler };
  const built = await run(wrapper, argv, { cwd: dir, signal, env });
  if (built.code === 0) return;
  await rm(output, { force: true });
  const [reason = ""] = built.output.split("\n").filter((line) => line.includes("error"));
  say(`the recorder for programs of musl could not be built with ${WRAPPER}: ${reason}`);
}

/** None of a folder that is not there: a package of other programs has no recorder. */
async function sourcesIn(dir, folders) {
  const there = folders.filter((folder) => existsSync(join(dir, folder)));
  const found = await Promise.all(
    there.map(async (folder) => {
      const names = await readdir(join(dir, folder));
      return names
        .filter((name) => name.endsWith(".cc"))
        .sort()
        .map((name) => join(folder, name));
    }),
  );
  return found.flat();
}
