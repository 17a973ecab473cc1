import { execFile, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { until } from "../wait.ts";
import { listFiles } from "./files.ts";

/** What a lent GPU machine returns of the folder for results. */
const MOST_FILES = 8;
const MOST_BYTES = 16 * 2 ** 20;

const scripts = fileURLToPath(new URL("../../scripts", import.meta.url));
const root = mkdtempSync(join(tmpdir(), "hydraconf-gpu-check-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let places = 0;

/** A folder with a `bin` of pretended tools, and an `out`. */
function place(tools: Readonly<Record<string, readonly string[]>>) {
  const folder = join(root, String(++places));
  const bin = join(folder, "bin");
  const out = join(folder, "out");
  mkdirSync(bin, { recursive: true });
  mkdirSync(out);
  for (const [name, lines] of Object.entries(tools)) {
    writeFileSync(join(bin, name), ["#!/bin/sh", ...lines, ""].join("\n"));
    chmodSync(join(bin, name), 0o755);
  }
  return { folder, out, env: { ...process.env, PATH: `${bin}:${process.env["PATH"]}` } };
}

interface Row {
  readonly step: string;
  readonly what: string;
  readonly state: string;
  readonly detail: string;
}

const rowsIn = (out: string): Row[] =>
  (JSON.parse(readFileSync(join(out, "results.json"), "utf8")) as { rows: Row[] }).rows;

function run(script: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((done) => {
    const child = execFile("python3", [join(scripts, script), ...args], { env });
    child.on("close", (code) => done(code ?? -1));
  });
}

function expectReturnable(out: string): string[] {
  const files = listFiles(out, "");
  expect(files.length).toBeLessThanOrEqual(MOST_FILES);
  for (const file of files) expect(statSync(file).size).toBeLessThan(MOST_BYTES);
  return files.map((file) => file.slice(out.length + 1)).sort();
}

/** `-o REPORT` of ncu's command line. */
const REPORT = 'while [ "$1" != -o ]; do shift; done; report=$2';
const PROGRAM = ["--program", "/bin/true"];

describe.concurrent("gpu-check.py", () => {
  it("leaves a few archives, and says what it cannot check and keep", async () => {
    const { folder, out, env } = place({
      ncu: [
        ...[REPORT, 'folder=$(dirname "$report")', 'mkdir -p "$folder/deep"'],
        ...['echo a > "$report.ncu-rep"', 'echo c > "$folder/deep/c.nvtxrec"'],
        'head -c 16777216 /dev/urandom > "$folder/deep/b.sqlite"',
        "exit 1",
      ],
    });
    writeFileSync(join(out, "mine.txt"), "was there before");
    const args = [...PROGRAM, "--only", "fixtures", "--pack", "--out", out];
    const temporary = join(folder, "temporary");
    mkdirSync(temporary);
    expect(await run("gpu-check.py", args, { ...env, TMPDIR: temporary })).toBe(1);
    expect(listFiles(temporary, "")).toEqual([]);
    expect(expectReturnable(out)).toEqual([
      "mine.txt",
      "ncu-reports.tar.gz",
      "recordings.tar.gz",
      "results.json",
      "results.md",
      "tables.tar.gz",
    ]);
    const text = readFileSync(join(out, "results.md"), "utf8");
    expect(text).toContain("| FAILED | fixtures | cuda range |");
    expect(text).toContain("Too large to keep: deep/b.sqlite");
  });

  it("ends a tool that hangs together with its helpers, and keeps what was found before", async () => {
    const { folder, out, env } = place({
      ncu: [`sleep 3600 & echo $! > "${join(root, "helper")}"`, "trap '' TERM", "wait"],
    });
    const args = [...PROGRAM, "--only", "failures,fixtures", "--pack", "--out", out];
    // Long enough for all that does not hang, on whatever machine.
    const limit = ["--minutes", "0.5"];
    expect(await run("gpu-check.py", [...args, ...limit], { ...env, TMPDIR: folder })).toBe(1);
    const rows = rowsIn(out);
    expect(rows.filter(({ step }) => step === "failures")).toHaveLength(3);
    const fixtures = rows.filter(({ step }) => step === "fixtures");
    expect(fixtures[0]).toMatchObject({ state: "FAILED" });
    expect(fixtures[0]?.detail).toMatch(/ncu took more than \d+ s/);
    expect(fixtures.slice(1).map(({ state, detail }) => [state, detail])).toEqual(
      Array.from({ length: 3 }, () => ["skipped", "out of time"]),
    );
    const helper = Number(readFileSync(join(root, "helper"), "utf8"));
    expect(() => process.kill(helper, 0)).toThrow();
  });

  it("takes an nsys that was carried before that of the machine", async () => {
    const { folder, out, env } = place({ nsys: ["echo the machine's own"] });
    const carried = join(folder, "nsys", "target-linux-x64");
    mkdirSync(carried, { recursive: true });
    writeFileSync(join(carried, "nsys"), "#!/bin/sh\necho Nsight Systems version 2023.4.4\n");
    chmodSync(join(carried, "nsys"), 0o755);
    const archive = join(folder, "nsys.tar.gz");
    execFileSync("tar", ["-C", folder, "-czf", archive, "nsys"]);
    const args = [...PROGRAM, "--only", "machine", "--out", out];
    await run("gpu-check.py", [...args, "--nsys", archive], env);
    const [nsys, ...others] = rowsIn(out);
    expect(nsys).toMatchObject({ state: "ok", detail: "Nsight Systems version 2023.4.4" });
    const machine = others.find(({ what }) => what === "what is here");
    expect(machine?.detail).toMatch(/nsys: \S+\/nsys\/target-linux-x64\/nsys/);

    await run("gpu-check.py", [...args, "--nsys", join(folder, "nothing")], env);
    expect(rowsIn(out)[0]).toMatchObject({ state: "skipped" });
    expect(rowsIn(out)[0]?.detail).toContain("gpu-carry.mjs --nsys makes it");
  });

  it.each([
    ["NVIDIA H200, 580.159.03", "h200"],
    ["NVIDIA H100 80GB HBM3, 580.159.04", "h100"],
    ["NVIDIA A100-SXM4-80GB, 550.54.15", "a100-sxm4-80gb"],
    ["NVIDIA GeForce RTX 4090, 550.54.15", "rtx-4090"],
    ["Tesla T4, 535.54", "t4"],
  ])("names the GPU, %s, and where its fixtures belong", async (name, folder) => {
    const { out, env } = place({
      "nvidia-smi": [`case "$*" in *name*) echo '${name}';; *) exit 1;; esac`],
      find: [],
    });
    const args = [...PROGRAM, "--only", "machine", "--out", out, "--nsys", join(out, "none")];
    await run("gpu-check.py", args, env);
    const machine = rowsIn(out).find(({ what }) => what === "what is here");
    expect(machine?.detail).toContain(`${name}: tests/fixtures/${folder};`);
  });

  it("keeps long lines of programs out of its table, and ends with what failed", async () => {
    const { folder, out, env } = place({
      program: [
        `case "$*" in *--peaks*) printf 'error: %05000d\\n' 1 >&2; exit 1;; esac`,
        "echo '{}'",
      ],
    });
    const args = ["--program", join(folder, "bin", "program"), "--only", "speed", "--out", out];
    const said = await new Promise<string>((done) =>
      execFile("python3", [join(scripts, "gpu-check.py"), ...args], { env }, (_, text) =>
        done(text),
      ),
    );
    const lines = said.trim().split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(400);
    expect(lines.at(-1)).toBe("2 ok, 11 FAILED, 0 skipped");
    expect(lines.at(-2)).toMatch(
      /^FAILED: speed cuda 4x3x16x3x64 float16 graph: Failed: exit 1: error: 0+\.\.\.$/,
    );
    expect(rowsIn(out).at(-1)?.detail.length).toBeGreaterThan(5000);
    expect(readFileSync(join(out, "results.md"), "utf8").length).toBeLessThan(12_000);
  });

  it("packs what there is when it is asked to end", async () => {
    const { out, env } = place({
      ncu: [
        REPORT,
        'case "$report" in *-kernel) echo a > "$report.ncu-rep";; *) sleep 3600;; esac',
      ],
    });
    const args = ["gpu-check.py", ...PROGRAM, "--only", "fixtures", "--pack", "--out", out];
    const child = spawn("python3", [join(scripts, args[0] ?? ""), ...args.slice(1)], { env });
    const ended = new Promise((done) => child.on("close", done));
    await until(() => existsSync(join(out, "results.json")));
    child.kill("SIGTERM");
    await ended;
    expect(rowsIn(out)[0]).toMatchObject({ what: "cuda" });
    expect(expectReturnable(out)).toContain("results.md");
  });

  it("ends what runs side by side when it is asked to end, and begins nothing else", async () => {
    const { folder, out, env } = place({
      program: [
        `case "$*" in *--weights*) echo $$ >> "${join(root, "hanging")}"; exec sleep 3600;; esac`,
      ],
    });
    const program = ["--program", join(folder, "bin", "program")];
    const args = ["gpu-check.py", ...program, "--only", "golden,odd", "--pack", "--out", out];
    const child = spawn("python3", [join(scripts, args[0] ?? ""), ...args.slice(1)], { env });
    const ended = new Promise((done) => child.on("close", done));
    const hanging = () =>
      existsSync(join(root, "hanging"))
        ? readFileSync(join(root, "hanging"), "utf8").trim().split("\n").map(Number)
        : [];
    await until(() => hanging().length === 8);
    child.kill("SIGTERM");
    await ended;
    for (const pid of hanging()) expect(() => process.kill(pid, 0)).toThrow();
    const golden = rowsIn(out).filter(({ step }) => step === "golden");
    const failed = golden.filter(({ state }) => state === "FAILED");
    expect(failed.map(({ detail }) => detail.split(":")[1])).toEqual(Array(8).fill(" exit -9"));
    for (const row of golden) if (!failed.includes(row)) expect(row.detail).toBe("out of time");
    expect(rowsIn(out).some(({ step }) => step === "odd")).toBe(false);
    expect(expectReturnable(out)).toContain("results.md");
  });

  it("asks PyTorch nothing more where there is none", async () => {
    const { folder, out, env } = place({ program: ["echo '{}'"] });
    writeFileSync(join(folder, "torch.py"), "raise ImportError('not on this machine')\n");
    const program = ["--program", join(folder, "bin", "program")];
    const args = [...program, "--only", "beside-torch", "--pack", "--out", out];
    expect(await run("gpu-check.py", args, { ...env, PYTHONPATH: folder })).toBe(0);
    const rows = rowsIn(out).filter(({ step }) => step === "beside-torch");
    expect(rows.map(({ state, detail }) => [state, detail])).toEqual(
      Array(5).fill(["skipped", "not on this machine"]),
    );
  });

  it("asks ncu nothing more when it cannot measure one kernel", async () => {
    const { out, env } = place({ ncu: ["echo '==ERROR== ERR_NVGPUCTRPERM - no'", "exit 1"] });
    const args = [...PROGRAM, "--only", "permission,fixtures", "--pack", "--out", out];
    expect(await run("gpu-check.py", args, env)).toBe(1);
    const rows = rowsIn(out);
    expect(rows.find(({ what }) => what === "ncu, one kernel")).toMatchObject({ state: "FAILED" });
    const fixtures = rows.filter(({ step }) => step === "fixtures");
    expect(fixtures.map(({ state, detail }) => [state, detail])).toEqual(
      Array(4).fill([
        "skipped",
        "ncu did not work for one kernel: exit 1, ==ERROR== ERR_NVGPUCTRPERM - no",
      ]),
    );
  });

  it("does not check a program that does not run", async () => {
    const { out, env } = place({});
    const args = ["--program", "/bin/false", "--only", "golden,fixtures,speed", "--out", out];
    expect(await run("gpu-check.py", args, env)).toBe(1);
    expect(rowsIn(out).map(({ what, state }) => [what, state])).toEqual([
      ["cuda", "ok"],
      ["cuda runs", "FAILED"],
    ]);
  });

  it("builds with each library, for the GPUs that are asked for", async () => {
    const compiled = join(root, "compiled");
    const writesItsOutput =
      'while [ "$1" != -o ]; do shift; done; printf "#!/bin/sh\\n" > "$2"; chmod +x "$2"';
    const { folder, out, env } = place({
      "g++": [`echo g++ "$@" >> "${compiled}"`, writesItsOutput],
      nvcc: [
        'case "$1" in',
        "--version) echo 'Cuda compilation tools, release 13.0, V13.0.48';;",
        `--dryrun) echo "#$ _HERE_=$(dirname "$0")" >&2;;`,
        "--list-gpu-arch) echo compute_90;;",
        `*) echo nvcc "$@" >> "${compiled}"; ${writesItsOutput};;`,
        "esac",
      ],
    });
    for (const [name, text] of Object.entries({
      "include/cuda_runtime_api.h": "",
      "lib64/libcudart_static.a": "",
      "cudnn/include/cudnn.h": "",
      "cudnn/include/cudnn_version.h":
        "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 12\n#define CUDNN_PATCHLEVEL 0\n",
      "cudnn/lib/libcudnn.so.9": "",
    })) {
      mkdirSync(join(folder, name, ".."), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    const chosen = {
      NVCC: join(folder, "bin", "nvcc"),
      CUDNN_ROOT: join(folder, "cudnn"),
      HYDRACONF_CUDA: "90",
    };
    const args = ["--only", "golden", "--out", out, "--place", join(folder, "place")];
    await run("gpu-check.py", args, { ...env, ...chosen });
    const builtNow = () =>
      rowsIn(out).filter(({ step, what }) => step === "compile" && !what.includes("runs"));
    const built = builtNow();
    expect(built.map(({ what, state, detail }) => [what, state, detail]).sort()).toEqual([
      ["cuda", "ok", "sm_90+compute_90, nvcc 13.0, 0 warnings"],
      ["cudnn", "ok", "sm_90+compute_90, nvcc 13.0, cuDNN 9.12.0, 0 warnings"],
    ]);
    const commands = readFileSync(compiled, "utf8");
    for (const source of ["cuda/convolution.cu", "cudnn/convolution.cc", "cpu_backend.cc"])
      expect(commands).toContain(`native/shallow_resnet/${source}`);
    expect(commands).toContain("-gencode=arch=compute_90,code=sm_90");
    expect(commands).toContain(join(folder, "cudnn", "lib", "libcudnn.so.9"));

    rmSync(compiled);
    await run("gpu-check.py", args, { ...env, ...chosen });
    expect(existsSync(compiled)).toBe(false);
    for (const { detail } of builtNow()) expect(detail).toMatch(/, as built before$/);
  });

  it("says what is missing", async () => {
    const { out, env } = place({ nvcc: ["exit 1"] });
    const alone = { ...env, NVCC: undefined, CUDA_HOME: undefined, HYDRACONF_CUDA: "0" };
    expect(await run("gpu-check.py", ["--only", "golden", "--out", out], alone)).toBe(1);
    expect(rowsIn(out).map(({ step, state }) => [step, state])).toEqual([
      ["compile", "skipped"],
      ["compile", "skipped"],
    ]);
  });
});

/** A program in place of deep-profile.js: it does what its run directory's name says. */
const FAKE_COMMAND = `
const { mkdirSync, writeFileSync } = require("node:fs");
const directory = process.argv.find((arg) => arg.startsWith("hydra.run.dir="))?.slice(14) ?? "";
const name = directory.split("/").pop();
if (name === "build") process.exit(3);
if (name === "half") {
  console.log("note: GPU clocks were not locked");
  console.error("ncu (profile): stopped after 1.5 min\\n  Hint: ask for fewer metrics");
  process.exit(1);
}
if (name === "recorder-cuda") setInterval(() => {}, 1000);
else if (directory !== "") {
  mkdirSync(directory + "/recorder/regions", { recursive: true });
  const kind = name === "stage1" ? "cpu_operation" : "gpu_kernel";
  const regions = ["stem", "residual", "block.conv1", "block.conv2", "head"].map((region) =>
    ({ name: region, total_ms: 1.5, metrics: {}, kernels: [{ kind }] }));
  writeFileSync(directory + "/recorder/regions/report.json",
    JSON.stringify({ reports: [{ regions, notes: [] }] }));
}
console.log("ran", process.argv.slice(2).join(" "));
`;

/** Without the first run, which builds the native part. */
const ALONE = ["--skip", "build"];

describe.concurrent("gpu-check.py with deep-profile", () => {
  function installed(folder: string): string {
    const place = join(folder, "installed");
    mkdirSync(join(place, "node", "bin"), { recursive: true });
    mkdirSync(join(place, "package", "dist", "bin"), { recursive: true });
    symlinkSync(process.execPath, join(place, "node", "bin", "node"));
    writeFileSync(join(place, "package", "dist", "bin", "deep-profile.js"), FAKE_COMMAND);
    return place;
  }

  it("looks into the reports; a step that fails or hangs costs itself and what needs it", async () => {
    const { folder, out, env } = place({});
    const args = ["--installed", installed(folder), "--pack", "--out", out, "--minutes", "0.5"];
    const steps = [...ALONE, "--only", "doctor,recorder,recorder-cuda,stage1"];
    expect(await run("gpu-check.py", [...args, ...steps], env)).toBe(1);
    const rows = rowsIn(out);
    expect(rows.map(({ step, state }) => [step, state])).toEqual([
      ["doctor", "ok"],
      ["recorder", "ok"],
      ["recorder-cuda", "FAILED"],
      ["stage1", "skipped"],
    ]);
    expect(rows[1]?.detail).toContain("head 1.500 ms");
    expect(rows[2]?.detail).toContain("took more than");
    expect(expectReturnable(out)).toEqual(["results.json", "results.md", "tables.tar.gz"]);
  });

  it("takes no operations of the CPU for kernels", async () => {
    const { folder, out, env } = place({});
    const args = ["--installed", installed(folder), "--out", out, ...ALONE, "--only", "stage1"];
    expect(await run("gpu-check.py", args, env)).toBe(1);
    expect(rowsIn(out)[0]?.detail).toContain("stem has no kernels of the GPU");
  });

  it("names what went wrong, and no note of the report", async () => {
    const { folder, out, env } = place({});
    const args = ["--installed", installed(folder), "--out", out, ...ALONE, "--only", "half"];
    expect(await run("gpu-check.py", args, env)).toBe(1);
    expect(rowsIn(out)[0]?.detail).toMatch(
      /^Failed: exit 1: ncu \(profile\): stopped after 1.5 min\n/,
    );
  });

  it("runs nothing that needs a build which failed", async () => {
    const { folder, out, env } = place({});
    const args = ["--installed", installed(folder), "--out", out, "--only", "build,recorder"];
    expect(await run("gpu-check.py", args, env)).toBe(1);
    expect(rowsIn(out).map(({ state, detail }) => [state, detail.split("\n")[0]])).toEqual([
      ["FAILED", "Failed: exit 3: no output"],
      ["skipped", "build did not work"],
    ]);
  });

  it("leaves PyTorch's steps out where there is none", async () => {
    const python = execFileSync("which", ["python3"], { encoding: "utf8" }).trim();
    const { folder, out, env } = place({
      python3: ['case "$1" in -c) exit 1;; esac', `exec '${python}' "$@"`],
      ncu: [],
    });
    const args = ["--installed", installed(folder), "--out", out];
    const steps = [...ALONE, "--only", "torch,torch-ncu,recorder"];
    expect(await run("gpu-check.py", [...args, ...steps], env)).toBe(0);
    expect(rowsIn(out).map(({ step, state, detail }) => [step, state, detail])).toEqual([
      ["recorder", "ok", expect.stringContaining("head 1.500 ms")],
      ["torch", "skipped", "no torch"],
      ["torch-ncu", "skipped", "no torch"],
    ]);
  });

  it("says how to get what was not carried", async () => {
    const { folder, out, env } = place({});
    const args = ["--carried", join(folder, "nothing.tar.xz"), "--out", out, "--only", "recorder"];
    expect(await run("gpu-check.py", args, env)).toBe(1);
    expect(rowsIn(out)[0]?.detail).toContain("node scripts/gpu-carry.mjs makes it");
  });
});

describe("the procedure for a machine with a GPU", () => {
  const manual = readFileSync(join(scripts, "../tests/manual/gpu/README.md"), "utf8");

  it("tells of each step", () => {
    const list = execFileSync("python3", [join(scripts, "gpu-check.py"), "--list"], {
      encoding: "utf8",
    });
    const names = [...list.matchAll(/^ {2}(\S+)/gm)].map(([, name]) => name);
    const [, table = ""] = manual.split("| step |");
    const rows = table.split("\n\n")[0]?.split("\n").slice(2) ?? [];
    const told = rows.flatMap((row) =>
      [...(row.split(" | ")[0] ?? "").matchAll(/`([^`]+)`/g)].map(([, name]) => name),
    );
    expect(told).toEqual(names);
  });
});
