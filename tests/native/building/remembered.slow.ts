/** What a build takes from the one before it: machines that share a directory see and know different things. */
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { buildNative, nativeStatus, servesGpus } from "../../../native/build.mjs";
import { addFakeToolkit, type FakeToolkit, setGpu, writeSmallPackage } from "../small-package.ts";

let root = "";
let toolkit: FakeToolkit;

beforeEach(() => {
  root = writeSmallPackage();
  toolkit = addFakeToolkit(root, { compiles: true, gpu: null });
  vi.stubEnv("HYDRACONF_CUDA", undefined);
  vi.stubEnv("CUDA_HOME", toolkit.home);
  vi.stubEnv("PATH", `${toolkit.smi}:${process.env["PATH"]}`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true });
});

const targets = async (request: { readonly gpus?: readonly number[] } = {}) => {
  const { built, info } = await buildNative({ root, quiet: true, ...request });
  return [built, info.gpu.targets];
};
const changeSource = () => appendFileSync(join(root, "native/hello/main.cc"), "\n");

it("keeps what an earlier build was told, and says so no more where it does not hold", async () => {
  vi.stubEnv("HYDRACONF_CUDA", "90");
  expect(await targets()).toEqual([true, "sm_90+compute_90"]);

  // The image is built once; what runs in it is told nothing.
  vi.stubEnv("HYDRACONF_CUDA", undefined);
  vi.stubEnv("CUDA_HOME", undefined);
  expect(await nativeStatus(root)).toMatchObject({
    state: "ready",
    info: { environment: { HYDRACONF_CUDA: "90", CUDA_HOME: toolkit.home } },
  });
  expect(await targets()).toEqual([false, "sm_90+compute_90"]);
  changeSource();
  expect(await targets()).toEqual([true, "sm_90+compute_90"]);

  vi.stubEnv("HYDRACONF_CUDA", "80");
  expect(await targets()).toEqual([true, "sm_80+compute_80"]);
  vi.stubEnv("HYDRACONF_CUDA", "");
  expect(await targets()).toEqual([true, null]);
});

it("takes nothing from the last build where it is to be made afresh", async () => {
  vi.stubEnv("HYDRACONF_CUDA", "90");
  await buildNative({ root, quiet: true });
  vi.stubEnv("HYDRACONF_CUDA", undefined);
  const { info } = await buildNative({ root, quiet: true, afresh: true });
  expect(info.gpu.built).toBe(false);
  expect(Object.keys(info.environment)).toEqual(["CUDA_HOME"]);
});

it("remembers through a build that failed, and goes without what is not there any more", async () => {
  vi.stubEnv("HYDRACONF_CUDA", "90");
  vi.stubEnv("NVCC", join(toolkit.home, "bin/nvcc"));
  await buildNative({ root, quiet: true });
  vi.stubEnv("HYDRACONF_CUDA", undefined);
  vi.stubEnv("NVCC", undefined);
  const source = join(root, "native/hello/main.cc");
  const good = readFileSync(source, "utf8");
  writeFileSync(source, "#error\n");
  await expect(buildNative({ root, quiet: true })).rejects.toThrow("#error");
  writeFileSync(source, `${good}\n`);
  expect(await targets()).toEqual([true, "sm_90+compute_90"]);

  rmSync(join(toolkit.home, "bin/nvcc"));
  writeFileSync(source, `${good}\n\n`);
  const lines: string[] = [];
  const { info } = await buildNative({ root, log: (line) => void lines.push(line) });
  expect(info.gpu.built).toBe(false);
  expect(lines[0]).toMatch(/^the native part is not built as it was: .*nvcc: no such program$/s);
});

it("builds for the GPUs of all machines that use it, and leaves what one without a toolkit could not build", async () => {
  expect(await targets()).toEqual([true, null]);
  const { info } = await nativeStatus(root);
  expect(info && servesGpus(info, [90])).toBe(false);

  // On a node with a GPU, where this user's program says so; then on one with another.
  expect(await targets({ gpus: [90] })).toEqual([true, "sm_90+compute_90"]);
  setGpu(toolkit.smi, "8.0");
  expect(await targets()).toEqual([true, "sm_80+sm_90+compute_90"]);

  setGpu(toolkit.smi, null);
  expect(await targets()).toEqual([false, "sm_80+sm_90+compute_90"]);
  rmSync(join(toolkit.home, "lib64/libcudart_static.a"));
  expect(await targets()).toEqual([false, "sm_80+sm_90+compute_90"]);
  const after = await nativeStatus(root);
  expect(after.info && servesGpus(after.info, [80, 90])).toBe(true);
});
