import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runCommand } from "./command.ts";
import { kernels, ncuMachine } from "./ncu-machine.ts";

const { cwd, gpu, inHere, notesOf, profile, regionsOf } = ncuMachine("failures of ncu, rare ones");

describe.skipIf(gpu === null)("deep-profile where ncu fails", () => {
  it("forgets that results could not be read at all once they are", async () => {
    writeFileSync(inHere("garbled"), "no report");
    gpu?.plan([{ report: inHere("garbled") }]);
    const ran = await profile(["hydra.run.dir=mended"]);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain("could not print the metrics");
    expect(notesOf("mended")).not.toContain("ncu measured nothing in");
    gpu?.plan([{ results: kernels }]);
    expect((await profile(["hydra.run.dir=sound"])).code).toBe(0);
    copyFileSync(inHere("sound/ncu/profile.ncu-rep"), inHere("mended/ncu/profile.ncu-rep"));
    const options = { cwd, env: gpu?.env ?? {} };
    const again = await runCommand("deep-profile", ["report", "mended"], options);
    expect([again.code, again.stdout]).toEqual([0, expect.not.stringContaining("could not print")]);
    expect(regionsOf("mended").get("A")?.kernel_count).toBe(2);
    for (const file of ["mended/report.md", "mended/ncu/regions/report.json"])
      expect(readFileSync(inHere(file), "utf8")).not.toContain("could not print");
  });
});
