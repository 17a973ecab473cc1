import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isCodedError } from "../../../../src/engine/values/errors.ts";
import { canProfile, examine } from "../../../../src/profiler/cli/show-doctor.ts";
import { runDoctor } from "../../../../src/profiler/cli/subcommand-lines.ts";
import { thisMachine } from "../../../../src/profiler/machine/doctor/machine.ts";
import { probeNative } from "../../../../src/profiler/machine/doctor/native-part.ts";
import {
  CUPTI,
  findingsOf,
  GPU,
  GPU_MACHINE,
  machine,
  NSIGHT,
  params,
  pythonSays,
  TOOLCHAIN,
} from "./machines.ts";

describe("a GPU machine with everything", () => {
  const everything = GPU_MACHINE;

  it("can do everything", async () => {
    const { works, check, findings } = await findingsOf(everything);
    expect(works).toEqual({
      recorder: "yes",
      "recorder with kernels": "yes",
      nsys: "yes",
      ncu: "yes",
    });
    expect(check("GPU")?.detail).toBe("2 x NVIDIA H200, driver 580.65.06");
    expect(check("toolchain")?.detail).toBe("g++ 12.2.0, nvcc 13.0, cuDNN 9.24.0");
    expect(check("nsys")?.detail).toMatch(/^2025\.5\.1\.121 \(/);
    expect(check("ncu")?.detail).toMatch(/^2025\.3\.1\.0 \(/);
    expect(check("CUPTI")?.detail).toBe("/usr/local/cuda/lib64/libcupti.so.13");
    expect(canProfile(findings)).toBe(true);
  });

  it("whose counters are for root only is told so, with the remedy; root may read them", async () => {
    const files = { ...NSIGHT.files, ...CUPTI, ...params(1) };
    const asUser = await findingsOf({ ...everything, files });
    expect(asUser.works["ncu"]).toBe("partly");
    expect(asUser.check("permissions")).toMatchObject({
      state: "warning",
      detail: "GPU counters are for root only (ERR_NVGPUCTRPERM), perf_event_paranoid 4",
      hint: expect.stringContaining("NVreg_RestrictProfilingToAdminUsers=0"),
    });
    const asRoot = await findingsOf({ ...everything, files, isRoot: true });
    expect(asRoot.works["ncu"]).toBe("yes");
  });

  it("says what else keeps ncu from the counters: another user's lock file, and DCGM", async () => {
    const sketch = (files: Readonly<Record<string, string>>) => ({
      ...everything,
      files: { ...everything.files, ...files },
    });
    const permissions = async (files: Readonly<Record<string, string>>, opens?: boolean) => {
      const found = machine(sketch(files));
      const { checks } = await examine(
        opens === undefined ? found : { ...found, opens: () => opens },
      );
      return checks.find(({ name }) => name === "permissions");
    };
    expect(await permissions({}, false)).toMatchObject({
      state: "warning",
      detail: expect.stringContaining("/tmp/nsight-compute-lock cannot be opened for writing"),
      hint: expect.stringContaining("TMPDIR"),
    });
    const own = { "tmp/nsight-compute-lock": "" };
    expect((await permissions(own))?.detail).not.toContain("lock");
    expect(await permissions({ "proc/712/comm": "nv-hostengine\n" })).toMatchObject({
      state: "warning",
      detail: expect.stringContaining("nv-hostengine (DCGM, process 712) is running"),
      hint: expect.stringContaining("dcgmi profile --pause"),
    });
    expect((await findingsOf(sketch(own))).works["ncu"]).toBe("yes");
  });

  it("asks for the capability that counts: root of a container lacks it, a user may have it", async () => {
    const withCapabilities = (effective: string, isRoot: boolean) =>
      findingsOf({
        ...everything,
        files: {
          ...NSIGHT.files,
          ...CUPTI,
          ...params(1),
          "proc/self/status": `Name:\tnode\nCapEff:\t${effective}\n`,
        },
        isRoot,
      });
    const inContainer = await withCapabilities("00000000a80425fb", true);
    expect(inContainer.works["ncu"]).toBe("partly");
    expect(inContainer.check("permissions")).toMatchObject({
      detail: expect.stringContaining("CAP_SYS_ADMIN only (ERR_NVGPUCTRPERM)"),
      hint: expect.stringContaining("--cap-add=SYS_ADMIN"),
    });
    expect((await withCapabilities("000001ffffffffff", true)).works["ncu"]).toBe("yes");
    expect((await withCapabilities("0000000000200000", false)).works["ncu"]).toBe("yes");
    expect((await withCapabilities("0000000000000000", false)).works["ncu"]).toBe("partly");
  });

  it("whose kernel forbids sampling is told how to allow it", async () => {
    const { check } = await findingsOf(everything);
    expect(check("permissions")).toMatchObject({
      state: "warning",
      hint: expect.stringContaining("kernel.perf_event_paranoid=2"),
    });
  });

  it("without CUPTI records no kernels by itself", async () => {
    const { works, check } = await findingsOf({
      ...everything,
      files: { ...NSIGHT.files, ...params(0) },
    });
    expect(works["recorder with kernels"]).toBe("no");
    expect(check("CUPTI")).toMatchObject({ state: "missing" });
  });

  it("takes HYDRACONF_CUPTI_PATH as the recorder does: a library or its folder, nothing else", async () => {
    const at = async (path: string) => {
      const env = { HYDRACONF_CUPTI_PATH: path };
      return (await findingsOf({ ...everything, env })).check("CUPTI");
    };
    const library = "/usr/local/cuda/lib64/libcupti.so.13";
    expect(await at(library)).toMatchObject({ state: "ok", detail: library });
    expect(await at("/usr/local/cuda/lib64")).toMatchObject({ state: "ok", detail: library });
    expect(await at("/nowhere")).toMatchObject({
      state: "missing",
      detail: expect.stringContaining("/nowhere"),
    });
  });

  it("shows the GPUs that programs see", async () => {
    const seen = async (visible: string) => {
      const env = { CUDA_VISIBLE_DEVICES: visible };
      return (await findingsOf({ ...everything, files: { ...NSIGHT.files }, env })).check;
    };
    expect((await seen("1"))("GPU")?.detail).toBe("NVIDIA H200, driver 580.65.06");
    const hidden = await seen("");
    expect(hidden("GPU")).toMatchObject({
      state: "warning",
      detail: expect.stringContaining("hides all 2 GPUs"),
    });
    expect(hidden("permissions")?.detail).toContain("the driver does not report");
  });

  it("with a tool that does not run is told how to find out why", async () => {
    const { answers: _, ...silent } = NSIGHT;
    const { check, works } = await findingsOf({ ...silent, answers: TOOLCHAIN });
    expect(works["ncu"]).toBe("no");
    expect(check("ncu")).toMatchObject({
      state: "warning",
      detail: expect.stringContaining("does not run"),
      hint: expect.stringContaining("ncu --version shows why; set HYDRACONF_NSIGHT"),
    });
  });
});

describe("a machine without a GPU", () => {
  it("records with the recorder, and with nsys where it is installed", async () => {
    const bare = await findingsOf({ answers: TOOLCHAIN });
    expect(bare.works).toEqual({
      recorder: "yes",
      "recorder with kernels": "no",
      nsys: "no",
      ncu: "no",
    });
    expect(bare.check("GPU")).toMatchObject({ state: "missing", detail: "no NVIDIA driver" });
    const tools = await findingsOf({ ...NSIGHT, answers: { ...TOOLCHAIN, ...NSIGHT.answers } });
    expect([tools.works["nsys"], tools.works["ncu"]]).toEqual(["partly", "partly"]);
  });

  it("but a driver is told that a container may hide it", async () => {
    const { check } = await findingsOf({ files: params(0), answers: TOOLCHAIN });
    expect(check("GPU")).toMatchObject({
      state: "warning",
      detail: "driver 580.65.06 is loaded, but nvidia-smi shows no GPU",
      hint: expect.stringContaining("--gpus all"),
    });
  });
});

describe("no GPU for programs", () => {
  const check = async (sketch: Parameters<typeof findingsOf>[0]) =>
    (await findingsOf({ answers: TOOLCHAIN, ...sketch })).check("GPU");

  it("since the GPU lacks a driver: install one", async () => {
    const device = "sys/bus/pci/devices/0000:01:00.0";
    const files = { [`${device}/vendor`]: "0x10de\n", [`${device}/class`]: "0x030200\n" };
    expect(await check({ files })).toMatchObject({
      state: "missing",
      detail: "no NVIDIA driver is loaded, although the machine has a GPU of NVIDIA",
      hint: expect.stringContaining("sudo modprobe nvidia"),
    });
    const audio = { ...files, [`${device}/class`]: "0x040300\n" };
    expect(await check({ files: audio })).toMatchObject({ detail: "no NVIDIA driver" });
  });

  it("since only the driver's libraries are here: start the container with it", async () => {
    expect(await check({ files: { "usr/lib/x86_64-linux-gnu/libcuda.so.1": "" } })).toMatchObject({
      state: "missing",
      detail: expect.stringContaining("cuInit returns 100"),
      hint: expect.stringMatching(/--gpus all.*device=cpu/),
    });
  });

  it("since the loaded driver's devices are not passed on: pass them on", async () => {
    const gpus = { "proc/driver/nvidia/gpus/0000:01:00.0/information": "" };
    expect(await check({ files: { ...params(0), ...gpus } })).toMatchObject({
      state: "warning",
      detail: expect.stringContaining("/dev has no nvidia0, so that cuInit returns 100"),
      hint: expect.stringMatching(/--gpus all.*nvidia-modprobe/),
    });
    const files = { ...params(0), ...gpus, "dev/nvidia0": "" };
    const env = { CUDA_VISIBLE_DEVICES: "-1" };
    expect(await check({ files, env })).toMatchObject({
      detail: expect.stringMatching(/shows no GPU; CUDA_VISIBLE_DEVICES=-1 also limits/),
      hint: expect.stringContaining("see the message of nvidia-smi"),
    });
  });
});

describe("WSL", () => {
  const files = { "usr/lib/wsl/lib/libcuda.so.1": "", "usr/lib/wsl/lib/nvidia-smi": "" };

  it("has a driver, although no file of /proc shows it", async () => {
    const { check } = await findingsOf({ files, answers: { ...TOOLCHAIN, ...GPU } });
    expect(check("GPU")).toMatchObject({ state: "ok" });
    expect(check("permissions")?.detail).toMatch(
      /^GPU counters: allowed users are set in the NVIDIA Control Panel of Windows/,
    );
  });

  it("tells where nvidia-smi is, which PATH lacks under sudo and ssh", async () => {
    const { check } = await findingsOf({ files, answers: TOOLCHAIN });
    expect(check("GPU")).toMatchObject({
      state: "warning",
      hint: expect.stringContaining("nvidia-smi is in /usr/lib/wsl/lib: add that to PATH"),
    });
  });
});

it("survives programs that print nonsense, and looks for CUPTI in an environment's packages", async () => {
  const { check } = await findingsOf({
    files: {
      ...NSIGHT.files,
      "venv/lib/python3.12/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12": "",
    },
    answers: {
      "python3 -c": pythonSays("3.12", "/usr/bin/python3"),
      "/usr/bin/python3": "{ not json",
      "nvidia-smi": "NVIDIA-SMI has failed",
      "/opt/nvidia/nsight-systems/2025.5.1/bin/nsys --version": "Segmentation fault",
    },
    env: { VIRTUAL_ENV: "/venv" },
  });
  expect(check("nsys")).toMatchObject({ state: "warning" });
  expect(check("GPU")).toMatchObject({ state: "missing" });
  expect(check("CUPTI")?.detail).toContain("site-packages/nvidia/cuda_cupti/lib/libcupti.so.12");
});

it("takes what a program warns of for no part of its answer", async () => {
  const sh = ["sh", "-c", "echo 'WARNING: old' >&2; echo '{}'"];
  expect(await thisMachine(process.env).run(sh)).toBe("{}\n");
});

it("looks for compilers with the Python that the build takes, where python3 is none", async () => {
  const { check } = await findingsOf({
    env: { PYTHON: "/opt/python/bin/python" },
    answers: {
      ...TOOLCHAIN,
      "python3 -c": "",
      "/opt/python/bin/python -c": TOOLCHAIN["python3 -c"],
    },
  });
  expect(check("toolchain")).toMatchObject({
    state: "ok",
    detail: expect.stringContaining("g++ 12.2.0"),
  });
  const none = await findingsOf({ env: { PYTHON: "/opt/python/bin/python" }, answers: {} });
  expect(none.check("toolchain")?.state).toBe("missing");
});

it("takes no Python that is too old to build with, and names it where there is no other", async () => {
  const old = { "python3 -c": pythonSays("3.7", "/usr/bin/python3.7") };
  const tooOld = await findingsOf({ answers: { ...TOOLCHAIN, ...old } });
  expect(tooOld.check("toolchain")).toMatchObject({
    state: "missing",
    detail:
      "Python 3.8 or newer is needed to build the native part (node-gyp runs on it); python3 is Python 3.7 (PYTHON names another)",
  });
  const other = { "python -c": TOOLCHAIN["python3 -c"] };
  const { check } = await findingsOf({ answers: { ...TOOLCHAIN, ...old, ...other } });
  expect(check("toolchain")).toMatchObject({ state: "ok" });
});

it("looks for CUPTI among the packages of the python3 on PATH, where the recorder looks, too", async () => {
  const { check } = await findingsOf({
    files: {
      "opt/torch/bin/python3": "",
      "opt/torch/lib/python3.12/site-packages/nvidia/cu13/lib/libcupti.so.13": "",
    },
    answers: TOOLCHAIN,
    env: { PATH: "/usr/bin:/opt/torch/bin" },
  });
  expect(check("CUPTI")).toMatchObject({
    state: "ok",
    detail: "/opt/torch/lib/python3.12/site-packages/nvidia/cu13/lib/libcupti.so.13",
  });
});

describe("a toolkit that keeps CUPTI for one kind of machine only", () => {
  const cuptiFor = async (arch: string, target: string, env: Readonly<Record<string, string>>) => {
    const library = `opt/cuda/targets/${target}/lib/libcupti.so.13`;
    return (await findingsOf({ arch, env, files: { [library]: "" } })).check("CUPTI");
  };

  it.each([
    ["x64", "x86_64-linux"],
    ["arm64", "sbsa-linux"],
    ["arm64", "aarch64-linux"],
  ])("is found on %s in %s", async (arch, target) => {
    for (const variable of ["CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"])
      expect(await cuptiFor(arch, target, { [variable]: "/opt/cuda" }), variable).toMatchObject({
        state: "ok",
        detail: `/opt/cuda/targets/${target}/lib/libcupti.so.13`,
      });
  });

  it("serves no other kind", async () => {
    for (const [arch, target] of [
      ["x64", "sbsa-linux"],
      ["arm64", "x86_64-linux"],
    ] as const)
      expect(await cuptiFor(arch, target, { CUDA_HOME: "/opt/cuda" }), arch).toMatchObject({
        state: "missing",
      });
  });
});

describe("deep-profile doctor", () => {
  const call = async (...args: string[]) => {
    const written: string[] = [];
    const console = { stdout: (text: string) => void written.push(text), stderr: () => {} };
    const code = await runDoctor(args, { cwd: "/", env: process.env, now: new Date(), console });
    return { code, stdout: written.join("") };
  };

  it("looks at this machine, as text and as JSON", async () => {
    const text = await call();
    expect([text.code, text.stdout]).toEqual([0, expect.stringContaining("what will work")]);
    expect(text.stdout.trimEnd().split("\n")).toHaveLength(10);
    expect((await call("--verbose")).stdout).toContain("\nwhat will work\n");
    const json = await call("--json");
    const { collectors, deep_profile_version, version } = JSON.parse(json.stdout);
    expect([version, deep_profile_version]).toEqual([1, expect.stringMatching(/^\d+\.\d+\.\d+$/)]);
    const names = collectors.map(({ name }: { name: string }) => name);
    expect(names).toEqual(["recorder", "recorder with kernels", "nsys", "ncu"]);
  });

  it("explains itself and takes no arguments", async () => {
    expect((await call("--help")).stdout).toContain("Usage: deep-profile doctor");
    const refused = await call("now").catch((error: unknown) => error);
    expect(isCodedError(refused) && refused.code).toBe("app.usage");
  });

  it("cannot wait for ever", async () => {
    const slow = thisMachine(process.env);
    expect(await slow.run(["absent-program-of-a-test"])).toBeNull();
    expect(slow.read("/proc/absent")).toBeNull();
    expect(slow.list("/absent")).toEqual([]);
  });
});

describe("a machine without the tools of the build", () => {
  it.each([
    ["linux", "ID=alpine\n", "apk add build-base python3"],
    ["linux", 'ID=rocky\nID_LIKE="rhel fedora"\n', "dnf install gcc-c++ make python3"],
    ["darwin", "", "xcode-select --install"],
  ])("is told how to install them (%s, %s)", async (platform, osRelease, command) => {
    const bare = machine({ platform, files: { "etc/os-release": osRelease } });
    // A package in which nothing is built.
    const { check } = await probeNative(bare, join(bare.root, "package"));
    expect(check).toMatchObject({ state: "warning", hint: expect.stringContaining(command) });
  });
});
