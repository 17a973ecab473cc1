import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { examine } from "../../../../src/profiler/cli/show-doctor.ts";
import { findingsOf, GPU_MACHINE, machine, params } from "./machines.ts";

const STUBS = "/usr/local/cuda/lib64/stubs";

const withLibraries = (path: string, ...files: readonly string[]) => ({
  ...GPU_MACHINE,
  files: { ...GPU_MACHINE.files, ...Object.fromEntries(files.map((file) => [file, ""])) },
  env: { LD_LIBRARY_PATH: path },
});

describe("a library in LD_LIBRARY_PATH that hides the driver's", () => {
  it.each(["libcuda.so.1", "libnvidia-ml.so.1"])("is told where it is a stub: %s", async (name) => {
    const sketch = withLibraries(`/opt/lib::${STUBS}`, `${STUBS.slice(1)}/${name}`);
    const { check, works } = await findingsOf(sketch);
    expect(check("GPU")).toEqual({
      name: "GPU",
      state: "warning",
      detail: `LD_LIBRARY_PATH makes programs load ${STUBS}/${name}: a stub of the CUDA toolkit that is only for linking, not a driver`,
      hint: expect.stringContaining(`remove ${STUBS} from LD_LIBRARY_PATH`),
    });
    expect(works).toMatchObject({ "recorder with kernels": "no", nsys: "partly", ncu: "partly" });
  });

  it("is told where a link leads to the stub", async () => {
    const found = machine(withLibraries("/opt/fix", `${STUBS.slice(1)}/libcuda.so`));
    mkdirSync(join(found.root, "opt/fix"));
    symlinkSync(join(found.root, STUBS, "libcuda.so"), join(found.root, "opt/fix/libcuda.so.1"));
    const { checks } = await examine(found);
    expect(checks.find(({ name }) => name === "GPU")?.detail).toContain(
      "/opt/fix/libcuda.so.1: a stub",
    );
  });

  it("is told where it is of an older driver than the one that is loaded", async () => {
    const of = (version: string) =>
      findingsOf(
        withLibraries(
          "/usr/local/cuda/compat",
          "usr/local/cuda/compat/libcuda.so.1",
          `usr/local/cuda/compat/libcuda.so.${version}`,
        ),
      );
    expect((await of("545.23.08")).check("GPU")).toMatchObject({
      state: "warning",
      detail: expect.stringContaining(
        "of driver 545.23.08, older than the loaded driver 580.65.06",
      ),
      hint: expect.stringContaining("cuda-compat"),
    });
    expect((await of("590.10")).check("GPU")?.state).toBe("ok");
  });

  it("is of the version that its link leads to, where an older one lies beside that", async () => {
    const [older, own] = ["535.54.03", "580.65.06"].map((one) => `opt/driver/libcuda.so.${one}`);
    const found = machine(withLibraries("/opt/driver", older ?? "", own ?? ""));
    symlinkSync(join(found.root, own ?? ""), join(found.root, "opt/driver/libcuda.so.1"));
    const { checks } = await examine(found);
    expect(checks.find(({ name }) => name === "GPU")?.state).toBe("ok");
  });

  it("is none where the first that is found is the driver's own, or only the linker's is there", async () => {
    const driver = "/usr/lib/x86_64-linux-gnu";
    const files = [`${driver.slice(1)}/libcuda.so.1`, `${STUBS.slice(1)}/libcuda.so.1`];
    const first = await findingsOf(withLibraries(`${driver}:${STUBS}`, ...files));
    expect(first.check("GPU")?.state).toBe("ok");
    const linker = await findingsOf(withLibraries(STUBS, `${STUBS.slice(1)}/libcuda.so`));
    expect(linker.check("GPU")?.state).toBe("ok");
  });
});

describe("a library in a folder of the loader's configuration that hides the driver's", () => {
  const DRIVER = "/usr/lib/x86_64-linux-gnu";
  const configured = (files: Readonly<Record<string, string>>, path = "") => {
    const { env, files: known } = withLibraries(
      path,
      `${DRIVER.slice(1)}/libcuda.so.1`,
      `${STUBS.slice(1)}/libcuda.so.1`,
    );
    return findingsOf({ ...GPU_MACHINE, env, files: { ...known, ...files } });
  };
  const CONF = { "etc/ld.so.conf": "include ld.so.conf.d/*.conf\n" };

  it("is told with the file that names the folder", async () => {
    const { check, works } = await configured({
      ...CONF,
      "etc/ld.so.conf.d/000_cuda.conf": `# of an image\n${STUBS} # to link\n`,
      "etc/ld.so.conf.d/x86_64-linux-gnu.conf": `${DRIVER}\n`,
    });
    expect(check("GPU")).toEqual({
      name: "GPU",
      state: "warning",
      detail: `/etc/ld.so.conf.d/000_cuda.conf makes programs load ${STUBS}/libcuda.so.1: a stub of the CUDA toolkit that is only for linking, not a driver`,
      hint: expect.stringContaining(
        `remove ${STUBS} from /etc/ld.so.conf.d/000_cuda.conf, then: sudo ldconfig`,
      ),
    });
    expect(works).toMatchObject({ "recorder with kernels": "no" });
  });

  it("is none behind the driver's own, wherever that is named", async () => {
    const behind = await configured({
      ...CONF,
      "etc/ld.so.conf.d/a.conf": `${DRIVER}\n`,
      "etc/ld.so.conf.d/b.conf": `${STUBS}\n`,
      "etc/ld.so.conf.d/0.disabled": `${STUBS}\n`,
    });
    expect(behind.check("GPU")?.state).toBe("ok");
    const first = await configured({ "etc/ld.so.conf": `${STUBS}\n` }, DRIVER);
    expect(first.check("GPU")?.state).toBe("ok");
  });

  it("is found in files that include each other", async () => {
    const { check } = await configured({
      "etc/ld.so.conf": "include /etc/more.conf nowhere/*\n",
      "etc/more.conf": `include /etc/ld.so.conf\n${STUBS}\n`,
    });
    expect(check("GPU")?.detail).toMatch(/^\/etc\/more\.conf makes programs load/);
  });
});

describe("a driver whose libraries are of another version", () => {
  const sketch = (version: string) => ({
    files: { ...params(0), [`usr/lib/x86_64-linux-gnu/libnvidia-ml.so.${version}`]: "" },
  });

  it("is told where no GPU answers", async () => {
    expect((await findingsOf(sketch("590.10"))).check("GPU")).toMatchObject({
      state: "warning",
      detail:
        'driver 580.65.06 is loaded, but its libraries are version 590.10 ("Driver/library version mismatch")',
      hint: expect.stringContaining("restart the machine"),
    });
  });

  it("is another matter where they agree", async () => {
    expect((await findingsOf(sketch("580.65.06"))).check("GPU")?.detail).toBe(
      "driver 580.65.06 is loaded, but nvidia-smi shows no GPU",
    );
  });
});
