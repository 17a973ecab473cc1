import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import { planProfile } from "../../../src/profiler/run/plan-run.ts";
import type { ProfileConfig } from "../../../src/profiler/tools/profiler-config.ts";
import { fakeGpu } from "../../e2e/fake-gpu.ts";
import { eventually } from "../../wait.ts";
import { realNcuOrSkip } from "../tools/ncu/run/real-ncu.ts";

const fileOf = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const preset = (path: string) => parse(readFileSync(fileOf(`conf/profiling/${path}`), "utf8"));

let here: string;
beforeEach(() => {
  here = mkdtempSync(join(tmpdir(), "hydraconf-plan-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  rmSync(here, { recursive: true, force: true });
});

const HANG = [process.execPath, fileOf("tests/fixtures/programs/hang.mjs")];

const config = (pipeline: Record<string, unknown>) =>
  ({
    device: "cpu",
    workload: { kind: "command", command: HANG },
    pipeline: {
      recorder: { enable: true, gpu: "auto", operation_domains: [], include: ["*"], exclude: [] },
      nsys: { enable: false },
      ncu: { enable: false },
      report: { aggregate: true },
      ...pipeline,
    },
  }) as unknown as ProfileConfig;

const plan = (pipeline: Record<string, unknown>) =>
  planProfile(config(pipeline), { cwd: here, runDirectory: "/the/run", say: () => {} });

function installNsys(): void {
  const script = `#!/bin/sh
case "$1" in
  --version) echo 'NVIDIA Nsight Systems version 2024.1.1.59' ;;
  profile) echo '  --trace=' ;;
esac
`;
  writeFileSync(join(here, "nsys"), script);
  chmodSync(join(here, "nsys"), 0o755);
  vi.stubEnv("HYDRACONF_NSIGHT", here);
}

describe("planProfile", () => {
  it("shows how nsys would be called, with what it needs in its environment", async () => {
    installNsys();
    const nsys = {
      ...preset("nsys/nsys.default.yaml"),
      enable: true,
      gating_nvtx: true,
      capture_range: "nvtx",
      nvtx_capture: "my range",
    };
    const { text, data } = await plan({ nsys });
    expect(data.runs[0]).toEqual({ collector: "recorder", command: HANG });
    expect(data.runs[1]?.command).toEqual(
      expect.arrayContaining([join(here, "nsys"), "profile", "--output=/the/run/nsys/run"]),
    );
    expect(data.runs[1]?.command.slice(-HANG.length)).toEqual(HANG);
    expect(text).toContain(
      `\nnsys: NSYS_NVTX_PROFILER_REGISTER_ONLY=0 ${join(here, "nsys")} profile `,
    );
    expect(text).toContain("'--nvtx-capture=my range'");
  });

  const real = realNcuOrSkip("the plan of ncu");

  it.skipIf(real === null)("leaves nothing behind when a signal stops it", async () => {
    if (real === null) return;
    for (const [name, value] of Object.entries(fakeGpu(here, real).env)) vi.stubEnv(name, value);
    const scratch = join(here, "tmp");
    mkdirSync(scratch);
    vi.stubEnv("TMPDIR", scratch);
    vi.spyOn(process, "exit").mockImplementation((code) => {
      throw new Error(`exit ${code}`);
    });
    const ncu = preset("ncu/ncu.default.yaml");
    ncu.ncu_cli.nvtx.include = "A";
    const ended = plan({ ncu: { ...ncu, enable: true, gating_nvtx: true } }).catch(String);
    const said = await eventually(() => {
      const out = readdirSync(scratch, { recursive: true, encoding: "utf8" }).find((name) =>
        name.endsWith("stdout.json"),
      );
      return JSON.parse(readFileSync(join(scratch, out ?? "none"), "utf8"));
    });
    process.emit("SIGINT", "SIGINT");
    expect(await ended).toBe("Error: exit 130");
    expect(readdirSync(scratch)).toEqual([]);
    expect(() => process.kill(said.pid, 0)).toThrow("ESRCH");
  });
});
