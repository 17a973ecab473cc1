/** All codes of errors, as the sources have them, and those that cases cannot show. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { listFiles } from "../repo/files.ts";

const SOURCES = fileURLToPath(new URL("../../src", import.meta.url));

/** What errors are about; the part of a code before its point. */
const STAGES =
  "yaml limit key value merge interpolation resolver override compose schema instantiate app plugin profile nsys recording slurm";

const CODE = new RegExp(`"((?:${STAGES.replaceAll(" ", "|")})[./][a-z_]+)"`, "g");

/** Sorted. */
export const ERROR_CODES: readonly string[] = [
  ...new Set(
    listFiles(SOURCES, ".ts").flatMap((file) =>
      [...readFileSync(file, "utf8").matchAll(CODE)].map(([, code = ""]) => code),
    ),
  ),
].sort();

/** Why a code has no case. */
export const NOT_BY_A_CASE: Readonly<Record<string, string>> = {
  "app.interrupted": "needs a signal while a sweep runs",
  "app.job": "needs a job whose worker dies before it has written its record",
  "limit.unpacked_bytes": "needs a report of ncu that unpacks to gigabytes",
  "profile.chip": "needs CUPTI of CUDA 12.6 or newer",
  "profile.collector": "needs a tool that fails while another one measures",
  "profile.metric": "needs CUPTI of CUDA 12.6 or newer",
  "profile.metric_library": "needs a library of NVIDIA's that is broken",
  "profile.metric_library_version": "needs CUPTI older than that of CUDA 12.6",
  "profile.native_build": "needs a machine without a compiler",
  "profile.ncu": "needs a run of ncu on a GPU",
  "profile.stopped": "needs a signal while files are read",
  "recording.not_found": "needs the directory of a recording to vanish while it is read",
  "slurm/busy": "is told after five minutes",
  "slurm/no_answer": "is told after five minutes",
};
