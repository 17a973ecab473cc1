/** Whether a program of NVIDIA Nsight is installed and runs. */
import { chosenFolderNote, findNsightTool, type NsightTool } from "../find-program.ts";
import type { Check, Machine } from "./machine.ts";

export async function probeNsight(
  machine: Machine,
  tool: NsightTool,
  product: string,
): Promise<Check> {
  const path = findNsightTool(tool, machine.env, machine.root);
  if (path === null)
    return {
      name: tool,
      state: "missing",
      detail: `not found${chosenFolderNote(tool, machine.env)}`,
      hint: `install ${product} (part of the CUDA toolkit) and put ${tool} on PATH, or set HYDRACONF_NSIGHT to its directory`,
    };
  const answer = await machine.run([path, "--version"]);
  const version = /(?:version|Version) (\d[\d.]*\d)/.exec(answer ?? "")?.[1];
  return version === undefined
    ? {
        name: tool,
        state: "warning",
        detail: `${path} does not run: it does not print its version`,
        hint: `${path} --version shows why; set HYDRACONF_NSIGHT to the directory of another ${tool}`,
      }
    : { name: tool, state: "ok", detail: `${version} (${path})` };
}
