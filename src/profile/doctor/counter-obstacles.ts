/** What keeps ncu from the GPU's counters although this user may read them. */
import { basename, join } from "node:path";
import type { Problem } from "./findings.ts";
import type { Machine } from "./machine.ts";

/** The first that is found; null where nothing stands in the way. */
export const counterObstacle = (machine: Machine): Problem | null =>
  foreignLock(machine) ?? monitor(machine);

/** ncu never removes its lock file; in a folder for all, one of another user cannot be opened even where its mode allows it. */
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

/** Those of a host are not seen from inside a container. */
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
