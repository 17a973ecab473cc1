import { ConfigError } from "../../../values/errors.ts";
import { chosenFolderNote, findNsightTool } from "../../machine/nsight-tools.ts";

/** @throws ConfigError `profile.tool` with what to install */
export function requireNcu(): string {
  const found = findNsightTool("ncu");
  if (found !== null) return found;
  throw new ConfigError({
    code: "profile.tool",
    key: "pipeline.ncu.enable",
    message: `pipeline.ncu.enable: Nsight Compute (ncu) is not installed, or not on PATH${chosenFolderNote("ncu")}`,
    hint: "install NVIDIA Nsight Compute (it comes with the CUDA toolkit; Debian non-free: apt-get install nsight-compute) and put ncu on PATH, or pipeline.ncu.enable=false",
  });
}
