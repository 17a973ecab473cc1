/** CUPTI, NVIDIA's library of profiling, on a machine. */
import { basename, dirname, join } from "node:path";
import type { Check, Machine } from "./machine.ts";

const TOOLKIT_FOLDERS = ["extras/CUPTI/lib64", "lib64", "lib"];
/** A toolkit's folders per architecture; Conda's has no others: arm64 servers come first, then Jetson. */
const TARGET_FOLDERS = new Map([
  ["x64", ["targets/x86_64-linux/lib"]],
  ["arm64", ["targets/sbsa-linux/lib", "targets/aarch64-linux/lib"]],
]);
const PACKAGE_FOLDERS = ["nvidia/cu13/lib", "nvidia/cuda_cupti/lib"];

/**
 * Searches in the same places as the recorder (native/region_recorder/gpu/libraries.cc). If it is found, the detail is its path.
 */
export async function probeCupti(machine: Machine): Promise<Check> {
  const name = "CUPTI";
  const { env } = machine;
  const variables = [env["CUDA_HOME"], env["CUDA_PATH"], env["CONDA_PREFIX"]];
  const toolkits = [...variables, "/usr/local/cuda"].filter(isSet);
  const toolkitFolders = [...TOOLKIT_FOLDERS, ...(TARGET_FOLDERS.get(machine.arch) ?? [])];
  const environments = [env["VIRTUAL_ENV"], env["CONDA_PREFIX"]].filter(isSet);
  const pythons = (env["PATH"] ?? "")
    .split(":")
    .filter((bin) => basename(bin) === "bin" && machine.list(bin).includes("python3"))
    .map(dirname);
  const wanted = env["HYDRACONF_CUPTI_PATH"];
  if (isSet(wanted)) return wantedCupti(machine, wanted);
  const places = [
    ...environments.flatMap((root) => packagePlaces(machine, root)),
    ...toolkits.flatMap((root) => toolkitFolders.map((folder) => join(root, folder))),
    ...pythons.flatMap((root) => packagePlaces(machine, root)),
  ];
  for (const place of places) {
    const library = machine.list(place).find((file) => /^libcupti\.so\.\d/.test(file));
    if (library !== undefined) return { name, state: "ok", detail: join(place, library) };
  }
  const linked = /^\s*(libcupti\.so\.\S+).*=> (\S+)/m.exec(
    (await machine.run(["/sbin/ldconfig", "-p"])) ?? "",
  );
  if (linked !== null) return { name, state: "ok", detail: linked[2] ?? linked[1] ?? "" };
  return {
    name,
    state: "missing",
    detail: "not found",
    hint: "it is part of the CUDA toolkit and of the Python package nvidia-cuda-cupti; set HYDRACONF_CUPTI_PATH to its path",
  };
}

/** Folders in which Python packages of a prefix have CUPTI. */
function packagePlaces(machine: Machine, root: string): string[] {
  const below = (folder: string, isWanted: (name: string) => boolean): string[] =>
    machine
      .list(folder)
      .filter(isWanted)
      .map((name) => join(folder, name));
  return below(join(root, "lib"), (name) => name.startsWith("python3"))
    .flatMap((python) => below(python, (name) => name.endsWith("-packages")))
    .flatMap((packages) => PACKAGE_FOLDERS.map((folder) => join(packages, folder)));
}

/** A library or its folder that a variable names; the recorder then searches nowhere else. */
function wantedCupti(machine: Machine, wanted: string): Check {
  const name = "CUPTI";
  const isLibrary = (file: string) => /^libcupti\.so/.test(file);
  if (machine.list(dirname(wanted)).includes(basename(wanted)) && isLibrary(basename(wanted)))
    return { name, state: "ok", detail: wanted };
  const library = machine.list(wanted).find((file) => /^libcupti\.so\.\d/.test(file));
  if (library !== undefined) return { name, state: "ok", detail: join(wanted, library) };
  return {
    name,
    state: "missing",
    detail: `HYDRACONF_CUPTI_PATH does not name a libcupti: ${wanted}`,
    hint: "set it to the path of libcupti.so.N or of its directory; without it, the usual places are searched",
  };
}

const isSet = (value: string | undefined): value is string => value !== undefined && value !== "";
