/** Which of the driver's libraries programs would load, and whether they are the driver's at all. */
import { basename, dirname, isAbsolute, join } from "node:path";
import { matchesGlob, parseGlob } from "../../../text/glob.ts";
import type { Machine, Problem } from "./machine.ts";

/** CUDA's, and the one that nvidia-smi asks. */
const LIBRARIES = ["libcuda.so.1", "libnvidia-ml.so.1"];

/**
 * A library in a folder of LD_LIBRARY_PATH, or of the loader's configuration, that is loaded in place of the driver's: the toolkit's stub, which programs
 * are linked with where there is no driver, or an older driver's out of a `cuda-compat` package.
 *
 * @param loaded version of the driver's module; null where none is loaded
 */
export function shadowedDriver(machine: Machine, loaded: string | null): Problem | null {
  const folders = libraryFolders(machine);
  for (const library of LIBRARIES) {
    const found = folders.find(({ path }) => machine.list(path).includes(library));
    if (found === undefined) continue;
    const folder = found.path;
    const file = join(folder, library);
    const cause = `${found.namedIn ?? "LD_LIBRARY_PATH"} makes programs load ${file}`;
    if (/\/stubs\//.test(machine.real(file)))
      return {
        detail: `${cause}: a stub of the CUDA toolkit that is only for linking, not a driver`,
        hint: `${takenOut(found)} (link programs with -L${folder}, but run them without it)`,
      };
    // Beside it may lie what an update has left.
    const version = versionIn([basename(machine.real(file)), ...machine.list(folder)]);
    if (version !== null && loaded !== null && isOlder(version, loaded))
      return {
        detail: `${cause} of driver ${version}, older than the loaded driver ${loaded}`,
        hint: `${takenOut(found)}: a cuda-compat package is only for older drivers`,
      };
  }
  return null;
}

const takenOut = ({ path, namedIn }: LibraryFolder): string =>
  namedIn === null
    ? `remove ${path} from LD_LIBRARY_PATH`
    : `remove ${path} from ${namedIn}, then: sudo ldconfig`;

/** Where drivers put their libraries. */
const FOLDERS = ["usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/lib64", "usr/lib"];

/** After an update the old module stays loaded until the machine starts again: NVML then refuses every question. */
export function mismatchedDriver(machine: Machine, loaded: string): Problem | null {
  const installed = FOLDERS.flatMap((folder) => versionsIn(machine.list(`/${folder}`)));
  const [other] = installed;
  if (other === undefined || installed.includes(loaded)) return null;
  return {
    detail: `driver ${loaded} is loaded, but its libraries are version ${other} ("Driver/library version mismatch")`,
    hint: "restart the machine (the driver was updated); or stop everything that uses the GPUs, then: sudo rmmod nvidia_drm nvidia_modeset nvidia_uvm nvidia; sudo modprobe nvidia; in a container: restart it, or remove the driver from its image",
  };
}

const versionsIn = (names: readonly string[]): readonly string[] =>
  names.flatMap(
    (name) => /^lib(?:cuda|nvidia-ml)\.so\.(\d+\.\d+(?:\.\d+)?)$/.exec(name)?.[1] ?? [],
  );

const versionIn = (names: readonly string[]): string | null => versionsIn(names)[0] ?? null;

function isOlder(one: string, other: string): boolean {
  const [a, b] = [one, other].map((version) => version.split(".").map(Number));
  for (let at = 0; at < 3; at++) {
    const difference = (a?.[at] ?? 0) - (b?.[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

// Where the loader looks for libraries before it takes those of the system's own folders (ld.so(8), ldconfig(8)).

interface LibraryFolder {
  readonly path: string;
  /** The file that names it; null: LD_LIBRARY_PATH. */
  readonly namedIn: string | null;
}

/** The first that has a library gives it. */
const libraryFolders = (machine: Machine): readonly LibraryFolder[] => [
  ...(machine.env["LD_LIBRARY_PATH"] ?? "")
    .split(":")
    .filter(isAbsolute)
    .map((path) => ({ path, namedIn: null })),
  ...foldersIn("/etc/ld.so.conf", machine, []),
];

/** @param around the files that include this one */
function foldersIn(
  file: string,
  machine: Machine,
  around: readonly string[],
): readonly LibraryFolder[] {
  if (around.includes(file)) return [];
  return (machine.read(file) ?? "").split("\n").flatMap((line) => {
    const [word = "", ...more] = line.replace(/#.*/, "").trim().split(/\s+/);
    if (word === "include")
      return more
        .flatMap((pattern) => filesOf(pattern, dirname(file), machine))
        .flatMap((included) => foldersIn(included, machine, [...around, file]));
    return isAbsolute(word) ? [{ path: word, namedIn: file }] : [];
  });
}

/** Only the last part of a pattern has wildcards, wherever one is used. */
function filesOf(pattern: string, from: string, machine: Machine): readonly string[] {
  const path = isAbsolute(pattern) ? pattern : join(from, pattern);
  const tokens = parseGlob(basename(path));
  return machine
    .list(dirname(path))
    .filter((name) => matchesGlob(tokens, name))
    .sort()
    .map((name) => join(dirname(path), name));
}
