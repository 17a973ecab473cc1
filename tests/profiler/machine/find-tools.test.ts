import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { chosenFolderNote, findNsightTool } from "../../../src/profiler/machine/find-tools.ts";

/** A file system root that holds these executables. */
function rootWith(...files: string[]): string {
  const root = mkdtempSync(join(tmpdir(), "tools-"));
  for (const file of files) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), "#!/bin/sh\n");
    chmodSync(join(root, file), 0o755);
  }
  return root;
}

describe("the Nsight tools", () => {
  it("are found where their packages put them, newest version first", () => {
    const root = rootWith(
      "opt/nvidia/nsight-systems/2023.4.4/bin/nsys",
      "opt/nvidia/nsight-systems/2025.10.1/bin/nsys",
      "opt/nvidia/nsight-systems/2025.2.1/bin/nsys",
      "usr/local/cuda-12.4/bin/ncu",
    );
    const env = { PATH: "" };
    expect(findNsightTool("nsys", env, root)).toBe(
      join(root, "opt/nvidia/nsight-systems/2025.10.1/bin/nsys"),
    );
    expect(findNsightTool("ncu", env, root)).toBe(join(root, "usr/local/cuda-12.4/bin/ncu"));
  });

  it("are taken from PATH before that, and from HYDRACONF_NSIGHT before all", () => {
    const root = rootWith("usr/local/cuda/bin/nsys", "path/nsys", "chosen/nsys", "path/ncu");
    const PATH = join(root, "path");
    const HYDRACONF_NSIGHT = join(root, "chosen");
    expect(findNsightTool("nsys", { PATH }, root)).toBe(join(PATH, "nsys"));
    const env = { PATH, HYDRACONF_NSIGHT };
    expect(findNsightTool("nsys", env, root)).toBe(join(HYDRACONF_NSIGHT, "nsys"));
    expect(findNsightTool("ncu", env, root)).toBe(join(PATH, "ncu"));
  });

  it("that HYDRACONF_NSIGHT promises and that are nowhere are told so", () => {
    expect(chosenFolderNote("nsys", { HYDRACONF_NSIGHT: "/nonexistent" })).toBe(
      ": HYDRACONF_NSIGHT names a folder without nsys, /nonexistent",
    );
    expect(chosenFolderNote("ncu", { HYDRACONF_NSIGHT: "" })).toBe("");
    expect(chosenFolderNote("ncu", {})).toBe("");
  });

  it("are null where nothing holds them", () => {
    expect(findNsightTool("nsys", { PATH: "" }, rootWith("bin/other"))).toBeNull();
  });
});
