import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../../values/errors.ts";
import { findExecutable } from "../../machine/executable.ts";

/** Where NVIDIA's installers put it when they leave PATH alone. */
const TOOLKIT = "/usr/local/cuda/bin/ncu";
const VERSIONS = "/opt/nvidia/nsight-compute";

/** The path of ncu: from PATH, else where NVIDIA installs it, the newest version. Null if absent. */
export function findNcu(cwd: string): string | null {
  const candidates = ["ncu", TOOLKIT, ...installedVersions().map((v) => join(VERSIONS, v, "ncu"))];
  for (const candidate of candidates) {
    const found = findExecutable(candidate, cwd);
    if (found !== null) return found;
  }
  return null;
}

function installedVersions(): readonly string[] {
  try {
    return readdirSync(VERSIONS).sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
  } catch {
    return [];
  }
}

/** @throws ConfigError `profile.tool` with what to install */
export function requireNcu(cwd: string): string {
  const found = findNcu(cwd);
  if (found !== null) return found;
  throw new ConfigError({
    code: "profile.tool",
    key: "pipeline.ncu.enable",
    message: "pipeline.ncu.enable: Nsight Compute (ncu) is not installed, or not on PATH",
    hint: "install NVIDIA Nsight Compute (it comes with the CUDA toolkit; Debian non-free: apt-get install nsight-compute) and put ncu on PATH, or pipeline.ncu.enable=false",
  });
}
