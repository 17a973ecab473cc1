import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Workload } from "../../../src/profiler/machine/process.ts";
import { describeInputs } from "../../../src/profiler/run/run.ts";

const directory = mkdtempSync(join(tmpdir(), "hydraconf inputs-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const workload = (inputFiles: readonly string[]): Workload => ({
  label: "w",
  argv: [],
  cwd: directory,
  env: {},
  stdout: "forward",
  device: null,
  inputFiles,
});

describe("the inputs of a run", () => {
  it("are files with their sizes and hashes; what is not there is left out", async () => {
    const path = join(directory, "weights");
    writeFileSync(path, "abc");
    const { files } = await describeInputs(workload([path, join(directory, "absent"), directory]));
    expect(files).toEqual([
      {
        path,
        bytes: 3,
        sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
      },
    ]);
  });

  // A file that not even root can read: programs of mode 711 are such files for others.
  it.skipIf(process.platform !== "linux")("need not be readable", async () => {
    const path = "/proc/self/mem";
    const { files } = await describeInputs(workload([path]));
    expect(files).toEqual([{ path, bytes: 0, sha256: null }]);
  });
});
