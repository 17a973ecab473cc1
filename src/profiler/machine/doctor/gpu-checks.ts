/** Checks of the driver, the GPUs, and the permission to read their counters. */

import { basename, dirname, isAbsolute, join } from "node:path";
import { matchesGlob, parseGlob } from "../../../foundation/text/glob.ts";
import { GPU_QUERY, type Gpu, gpusOf, visibleGpus } from "../gpu.ts";
import type { Check, Machine, Problem } from "./machine.ts";

/** The findings of `doctor` about the GPU and its driver. */
export interface GpuFindings {
  readonly driver: Check;
  readonly permissions: Check;
  /** Why programs have no GPU, e.g. `no GPU answers`; null if they have one. */
  readonly absence: string | null;
  /** Whether ncu may read hardware counters; null if unknown. */
  readonly countersAllowed: boolean | null;
}

export async function probeGpu(machine: Machine): Promise<GpuFindings> {
  const all = gpusOf((await machine.run(GPU_QUERY)) ?? "");
  const visible = machine.env["CUDA_VISIBLE_DEVICES"];
  const gpus = visibleGpus(all, visible);
  const loaded = /NVRM version:.*?\s(\d+\.\d+(?:\.\d+)?)\s/.exec(
    machine.read("/proc/driver/nvidia/version") ?? "",
  )?.[1];
  const onWsl = hasDriverOfWindows(machine);
  const countersAllowed = counterPermission(machine);
  const shadowed = shadowedDriver(machine, loaded ?? null);
  const absence = absenceOf(gpus, shadowed);
  return {
    driver:
      all.length > 0 && gpus.length === 0
        ? hiddenGpus(all.length, visible ?? "")
        : driverCheck(machine, gpus, loaded, {
            onWsl,
            shadowed,
            mismatched: loaded === undefined ? null : mismatchedDriver(machine, loaded),
          }),
    permissions: permissionCheck(machine, countersAllowed, {
      present: absence === null,
      unknown: whoMayRead({ hasDriver: all.length > 0 || loaded !== undefined, onWsl }),
    }),
    absence,
    countersAllowed,
  };
}

function absenceOf(gpus: readonly Gpu[], shadowed: Problem | null): string | null {
  if (gpus.length === 0) return "no GPU answers";
  return shadowed === null ? null : "programs load a library that is not the driver's";
}

const WSL_LIBRARIES = "/usr/lib/wsl/lib";

/** WSL 2 uses the driver of Windows: its libraries are in a separate folder, and /proc/driver/nvidia does not exist. */
const hasDriverOfWindows = (machine: Machine): boolean =>
  machine.list(WSL_LIBRARIES).includes("libcuda.so.1");

function whoMayRead(facts: { readonly hasDriver: boolean; readonly onWsl: boolean }): string {
  if (facts.onWsl)
    return "allowed users are set in the NVIDIA Control Panel of Windows (Developer, Manage GPU Performance Counters)";
  return facts.hasDriver ? "the driver does not report who may read them" : "no driver to ask";
}

const hiddenGpus = (count: number, visible: string): Check => ({
  name: "GPU",
  state: "warning",
  detail: `CUDA_VISIBLE_DEVICES=${visible} hides ${count === 1 ? "the GPU" : `all ${count} GPUs`} from programs`,
  hint: "unset CUDA_VISIBLE_DEVICES, or name GPUs as nvidia-smi -L does",
});

interface DriverFacts {
  readonly onWsl: boolean;
  readonly shadowed: Problem | null;
  readonly mismatched: Problem | null;
}

function driverCheck(
  machine: Machine,
  gpus: readonly Gpu[],
  loaded: string | undefined,
  { onWsl, shadowed, mismatched }: DriverFacts,
): Check {
  const name = "GPU";
  if (shadowed !== null) return { name, state: "warning", ...shadowed };
  if (gpus.length > 0) {
    const names = new Map<string, number>();
    for (const { name: gpu } of gpus) names.set(gpu, (names.get(gpu) ?? 0) + 1);
    const list = [...names].map(([gpu, count]) => (count === 1 ? gpu : `${count} x ${gpu}`));
    return {
      name,
      state: "ok",
      detail: `${list.join(", ")}, driver ${gpus[0]?.driverVersion ?? loaded}`,
    };
  }
  if (loaded === undefined && onWsl)
    return {
      name,
      state: "warning",
      detail: "WSL has the Windows driver, but nvidia-smi shows no GPU",
      hint: `nvidia-smi is in ${WSL_LIBRARIES}: add that to PATH; if nvidia-smi itself fails: wsl --update in Windows, and install a new NVIDIA driver there`,
    };
  if (loaded === undefined) return { name, state: "missing", ...driverAbsence(machine) };
  if (mismatched !== null) return { name, state: "warning", ...mismatched };
  return { name, state: "warning", ...deviceAbsence(machine, loaded) };
}

/** Without a loaded driver: a GPU that lacks one, libraries without a device, or neither. */
function driverAbsence(machine: Machine): Problem {
  if (hasGpuOnBus(machine))
    return {
      detail: "no NVIDIA driver is loaded, although the machine has a GPU of NVIDIA",
      hint: "install the distribution's package of the driver, then restart (or: sudo modprobe nvidia); dmesg shows why a module is not loaded",
    };
  if (FOLDERS.some((folder) => machine.list(`/${folder}`).includes("libcuda.so.1")))
    return {
      detail:
        "the driver's libraries are installed, but no GPU and no loaded driver are here (cuInit returns 100, CUDA_ERROR_NO_DEVICE)",
      hint: "in a container: start it with --gpus all on a host with a GPU; on a cluster: ask for a GPU (srun --gpus=1); without a GPU: device=cpu",
    };
  return {
    detail: "no NVIDIA driver",
    hint: "install NVIDIA's driver (nvidia-smi must list the GPU); in a container: start it with --gpus all on a host with a driver; without a GPU: device=cpu",
  };
}

/** With a loaded driver that shows this process no device. */
function deviceAbsence({ list, env }: Machine, loaded: string): Problem {
  const gpus = list("/proc/driver/nvidia/gpus").length;
  const nodes = list("/dev").filter((name) => /^nvidia\d+$/.test(name)).length;
  const cause = `driver ${loaded} is loaded, but nvidia-smi shows no GPU`;
  if (gpus > 0 && nodes === 0)
    return {
      detail: `${cause}: /dev has no nvidia0, so that cuInit returns 100 (CUDA_ERROR_NO_DEVICE)`,
      hint: "in a container: start it with --gpus all; in a job of a cluster: ask for a GPU (srun --gpus=1); otherwise: sudo nvidia-modprobe -u -c=0",
    };
  const visible = env["CUDA_VISIBLE_DEVICES"];
  const hidden =
    visible === undefined ? "" : `; CUDA_VISIBLE_DEVICES=${visible} also limits what programs see`;
  return {
    detail: `${cause}${hidden}`,
    hint: "in a container: start it with --gpus all; otherwise see the message of nvidia-smi",
  };
}

/** Display and 3D controllers (class 03) of NVIDIA (vendor 10de) on the PCI bus. */
const hasGpuOnBus = ({ list, read }: Machine): boolean =>
  list(PCI).some((device) => {
    const fact = (name: string) => (read(join(PCI, device, name)) ?? "").trim();
    return fact("vendor") === "0x10de" && fact("class").startsWith("0x03");
  });

const PCI = "/sys/bus/pci/devices";

/** `RmProfilingAdminOnly` of the driver: 1 lets only administrators read hardware counters. */
function counterPermission(machine: Machine): boolean | null {
  const value = /^RmProfilingAdminOnly:\s*(\d)/m.exec(
    machine.read("/proc/driver/nvidia/params") ?? "",
  )?.[1];
  return value === undefined ? null : value === "0" || isAdministrator(machine);
}

/** Bit of `CAP_SYS_ADMIN` among the capabilities of a process (linux/capability.h). */
const SYS_ADMIN = 21n;

/** The driver checks the capability, which root in a container usually lacks. */
function isAdministrator({ read, isRoot }: Machine): boolean {
  const effective = /^CapEff:\s*([0-9a-f]+)/m.exec(read("/proc/self/status") ?? "")?.[1];
  return effective === undefined ? isRoot : ((BigInt(`0x${effective}`) >> SYS_ADMIN) & 1n) === 1n;
}

function permissionCheck(
  machine: Machine,
  countersAllowed: boolean | null,
  { present, unknown }: { readonly present: boolean; readonly unknown: string },
): Check {
  const name = "permissions";
  const { read, isRoot } = machine;
  const paranoid = (read("/proc/sys/kernel/perf_event_paranoid") ?? "").trim();
  const sampling = paranoid === "" ? "" : `, perf_event_paranoid ${paranoid}`;
  if (countersAllowed === false)
    return {
      name,
      state: "warning",
      detail: `GPU counters are for ${isRoot ? "root with CAP_SYS_ADMIN" : "root"} only (ERR_NVGPUCTRPERM)${sampling}`,
      hint: isRoot
        ? "start the container with --cap-add=SYS_ADMIN; or set NVreg_RestrictProfilingToAdminUsers=0 for the host's driver"
        : "as root: echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' > /etc/modprobe.d/nvidia-profiling.conf, then reboot; or run ncu as root (in a container: --cap-add=SYS_ADMIN)",
    };
  const counters = countersAllowed === null ? `GPU counters: ${unknown}` : "GPU counters allowed";
  const restriction = present ? counterRestriction(machine) : null;
  if (restriction !== null)
    return {
      name,
      state: "warning",
      detail: `${counters}, but ${restriction.detail}${sampling}`,
      hint: restriction.hint,
    };
  if (Number(paranoid) > 2)
    return {
      name,
      state: "warning",
      detail: `${counters}${sampling}`,
      hint: "nsys cannot sample the CPU (pipeline.nsys.sample): sudo sysctl kernel.perf_event_paranoid=2",
    };
  return { name, state: "ok", detail: `${counters}${sampling}` };
}

// Obstacles that keep ncu from the GPU's counters although this user may read them.

/** The first obstacle found; null without any. */
const counterRestriction = (machine: Machine): Problem | null =>
  foreignLock(machine) ?? monitor(machine);

/**
 * ncu never removes its lock file; in a shared folder, another user's file cannot be opened even if its mode allows it.
 */
function foreignLock({ env, opens }: Machine): Problem | null {
  const lock = join(env["TMPDIR"] || "/tmp", "nsight-compute-lock");
  return opens(lock) === false
    ? {
        detail: `${lock} cannot be opened for writing (it is another user's or read-only), but ncu must lock it`,
        hint: "mkdir -p ~/ncu-tmp, then run TMPDIR=~/ncu-tmp deep-profile ...",
      }
    : null;
}

const MONITORS = new Set(["nv-hostengine", "dcgm-exporter"]);

/** A container does not see the monitors of its host. */
function monitor({ list, read }: Machine): Problem | null {
  for (const pid of list("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    const name = (read(join("/proc", pid, "comm")) ?? "").trim();
    if (MONITORS.has(basename(name)))
      return {
        detail: `${name} (DCGM, process ${pid}) is running and may hold them`,
        hint: "if ncu reports that a driver resource was unavailable: dcgmi profile --pause before, --resume after",
      };
  }
  return null;
}

// Which driver libraries programs would load, and whether they belong to the driver.

/** The libraries of CUDA and of nvidia-smi. */
const LIBRARIES = ["libcuda.so.1", "libnvidia-ml.so.1"];

/**
 * A library in a folder of LD_LIBRARY_PATH, or of the loader's configuration, that is loaded instead of the driver's:
 * the toolkit's stub, for linking without a driver, or an older driver's library from a `cuda-compat` package.
 *
 * @param loaded version of the driver's module; null if none is loaded
 */
function shadowedDriver(machine: Machine, loaded: string | null): Problem | null {
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
    // The folder may also contain remains of an update.
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

/** Folders where drivers install their libraries. */
const FOLDERS = ["usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/lib64", "usr/lib"];

/** After an update the old module stays loaded until a restart: NVML then refuses every query. */
function mismatchedDriver(machine: Machine, loaded: string): Problem | null {
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

function isOlder(candidate: string, other: string): boolean {
  const [a, b] = [candidate, other].map((version) => version.split(".").map(Number));
  for (let index = 0; index < 3; index++) {
    const difference = (a?.[index] ?? 0) - (b?.[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}

// The folders that the loader searches before those of the system (ld.so(8), ldconfig(8)).

interface LibraryFolder {
  readonly path: string;
  /** The file that lists it; null: LD_LIBRARY_PATH. */
  readonly namedIn: string | null;
}

/** The first folder with a library wins. */
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

/** Only the last part of a pattern may have wildcards. */
function filesOf(pattern: string, from: string, machine: Machine): readonly string[] {
  const path = isAbsolute(pattern) ? pattern : join(from, pattern);
  const tokens = parseGlob(basename(path));
  return machine
    .list(dirname(path))
    .filter((name) => matchesGlob(tokens, name))
    .sort()
    .map((name) => join(dirname(path), name));
}
