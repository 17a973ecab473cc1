/** Finds programs: on PATH, and Nsight's tools where they are usually installed. */
import { readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { findExecutable } from "../../foundation/system/find-program.ts";

export type NsightTool = "nsys" | "ncu";

/** The folder that takes precedence for finding the tools. */
const FOLDER_VARIABLE = "HYDRACONF_NSIGHT";

/** Where packages of NVIDIA and of distributions install the tools; `*` is a version, of which the newest is used. */
const INSTALL_FOLDERS: Readonly<Record<NsightTool, readonly string[]>> = {
  nsys: [
    "/opt/nvidia/nsight-systems/*/bin",
    "/opt/nvidia/nsight-systems-cli/*/bin",
    "/usr/local/cuda/bin",
    "/usr/local/cuda-*/bin",
    "/usr/lib/nsight-systems/bin",
  ],
  ncu: [
    "/opt/nvidia/nsight-compute/*",
    "/usr/local/cuda/bin",
    "/usr/local/cuda-*/bin",
    "/usr/lib/nsight-compute",
  ],
};

/**
 * Finds `nsys` or `ncu`: in the folder that `HYDRACONF_NSIGHT` names, else on PATH, else in the folders of their
 * packages. Null if absent.
 */
export function findNsightTool(
  tool: NsightTool,
  env: Readonly<Record<string, string | undefined>> = process.env,
  root = "/",
): string | null {
  const chosen = env[FOLDER_VARIABLE];
  const folders = [
    ...(chosen === undefined || chosen === "" ? [] : [chosen]),
    ...(env["PATH"] ?? "").split(delimiter),
    ...INSTALL_FOLDERS[tool].flatMap((pattern) => expand(join(root, pattern))),
  ];
  return findExecutable(tool, "/", folders.join(delimiter));
}

/** A suffix for "not found" if `HYDRACONF_NSIGHT` is set but has no such tool; empty if it is not set. */
export function chosenFolderNote(
  tool: NsightTool,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  const chosen = env[FOLDER_VARIABLE];
  return chosen === undefined || chosen === ""
    ? ""
    : `: ${FOLDER_VARIABLE} names a folder without ${tool}, ${chosen}`;
}

/** A note of a plan whose tool this machine lacks. @param product its name in messages */
export const elsewhereNote = (tool: NsightTool, product: string): string =>
  `${product} (${tool}) is not installed on this machine${chosenFolderNote(tool)}: this is the plan for one that has it on PATH; what its version lacks is only known there`;

/** The folders that match a pattern with at most one `*` in a name, newest version first. */
function expand(pattern: string): readonly string[] {
  const parts = pattern.split("/");
  const index = parts.findIndex((part) => part.includes("*"));
  if (index < 0) return [pattern];
  const parent = parts.slice(0, index).join("/");
  const [before = "", after = ""] = (parts[index] ?? "").split("*");
  return namesIn(parent)
    .filter((name) => name.startsWith(before) && name.endsWith(after))
    .sort((a, b) => b.localeCompare(a, "en", { numeric: true }))
    .map((name) => [parent, name, ...parts.slice(index + 1)].join("/"));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
