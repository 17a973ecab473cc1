import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  buildNative,
  NativeBuildError,
  nativeStatus,
  pythonCandidates,
} from "../../native/build.mjs";
import { OLDEST_PYTHON } from "../../native/building/python.mjs";
import { addFakeToolkit, hello, program, writeSmallPackage } from "./small-package.ts";

let root = "";

beforeEach(() => {
  root = writeSmallPackage();
  // The same on machines with a GPU and without.
  vi.stubEnv("HYDRACONF_CUDA", "0");
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true });
});

const quiet = { quiet: true } as const;
const builder = new URL("../../native/build.mjs", import.meta.url).href;

describe("buildNative", () => {
  it("builds a packed package, whose root has no binding.gyp before and after", async () => {
    mkdirSync(join(root, "dist"));
    renameSync(join(root, "binding.gyp"), join(root, "dist/binding.gyp"));
    const { built, binDir } = await buildNative({ root, ...quiet });
    expect(built).toBe(true);
    expect(await hello(binDir)).toBe("one");
    expect(existsSync(join(root, "binding.gyp"))).toBe(false);
    expect((await nativeStatus(root)).state).toBe("ready");

    writeFileSync(join(root, "native/hello/main.cc"), program("two"));
    const elsewhere = await buildNative({ root, out: join(root, "elsewhere"), ...quiet });
    expect(await hello(elsewhere.binDir)).toBe("two");
    expect(await hello((await buildNative({ root, ...quiet })).binDir)).toBe("two");
    expect(existsSync(join(root, "binding.gyp"))).toBe(false);
  });

  it("builds once, again only when a source changed, and says what it found", async () => {
    const lines: string[] = [];
    const log = (line: string): void => void lines.push(line);
    expect((await nativeStatus(root)).state).toBe("absent");

    const first = await buildNative({ root, log });
    expect(first.built).toBe(true);
    expect(first.binDir).toBe(join(root, "build/Release"));
    expect(await hello(first.binDir)).toBe("one");
    expect(first.info.outputs).toEqual(["hello"]);
    expect(first.info.backends).toEqual(["cpu"]);
    expect(lines.join("\n")).toContain("CPU backend; ");
    expect((await nativeStatus(root)).state).toBe("ready");

    lines.length = 0;
    expect((await buildNative({ root, log })).built).toBe(false);
    expect(lines).toEqual([]);

    writeFileSync(join(root, "native/hello/main.cc"), program("two"));
    expect((await nativeStatus(root)).state).toBe("stale");
    const second = await buildNative({ root, ...quiet });
    expect(second.built).toBe(true);
    expect(await hello(second.binDir)).toBe("two");

    rmSync(join(second.binDir, "hello"));
    expect((await nativeStatus(root)).state).toBe("stale");
  });

  it("builds the recorder alone where nothing else is needed, and the rest when it is", async () => {
    mkdirSync(join(root, "native/part"));
    writeFileSync(join(root, "native/part/part.cc"), 'extern "C" int part() { return 1; }\n');
    const gyp = readFileSync(join(root, "binding.gyp"), "utf8");
    const recorder = `{
      'target_name': 'region_recorder', 'type': 'loadable_module', 'sources': ['native/part/part.cc'],
      'target_conditions': [['1==1', {'product_extension': 'so'}]],
    }, {
      'target_name': 'chip_metrics', 'type': 'executable', 'sources': ['native/hello/main.cc'],
    }, {`;
    writeFileSync(
      join(root, "binding.gyp"),
      gyp.replace("{\n    'target_name'", `${recorder}\n    'target_name'`),
    );
    const lines: string[] = [];
    const log = (line: string): void => void lines.push(line);

    const first = await buildNative({ root, log, parts: "recorder" });
    expect(first.info.outputs).toEqual(["chip_metrics", "region_recorder.so"]);
    expect(first.info).toMatchObject({ parts: "recorder", backends: [], gpu: { built: false } });
    expect(lines).toEqual([
      expect.stringMatching(/^building the recorder \(.*; this happens once$/),
    ]);
    expect((await nativeStatus(root, { parts: "recorder" })).state).toBe("ready");
    expect((await nativeStatus(root)).state).toBe("stale");
    expect((await buildNative({ root, log, parts: "recorder" })).built).toBe(false);

    const all = await buildNative({ root, log });
    expect(all.info.outputs).toEqual(["chip_metrics", "hello", "region_recorder.so"]);
    expect(lines.slice(1)).toEqual([
      expect.stringMatching(/^building the native part \(.*CPU backend; .*; this happens once$/),
    ]);
    for (const parts of ["recorder", "all"] as const)
      expect((await buildNative({ root, ...quiet, parts })).built).toBe(false);
  });

  it("needs no headers of Node's, and downloads none", async () => {
    // As the one of the npm package `node`, and Debian's without libnode-dev.
    const bare = join(root, "bin/node");
    mkdirSync(dirname(bare));
    cpSync(realpathSync(process.execPath), bare);
    const code = `
      const { buildNative } = await import(process.argv[1]);
      console.log((await buildNative({ root: process.argv[2], log: console.log })).binDir);`;
    const { stdout } = await execa(
      bare,
      ["--input-type=module", "--eval", code, builder, root],
      // Where downloaded headers would be, and where they would come from.
      { env: { HOME: root, npm_config_disturl: "http://127.0.0.1:1", npm_config_nodedir: "" } },
    );
    const [said, binDir, ...more] = stdout.split("\n");
    expect(said).toContain("building the native part");
    expect(more).toEqual([]);
    expect(await hello(binDir ?? "")).toBe("one");
  });

  it("needs no python3 on PATH where PYTHON names one: node-gyp, its files and what looks for tools run on it", async () => {
    const { stdout: real } = await execa("python3", ["-c", "import sys; print(sys.executable)"]);
    const python = join(root, "my python");
    symlinkSync(real, python);
    const broken = join(root, "broken");
    mkdirSync(broken);
    for (const name of ["python", "python3"])
      writeFileSync(join(broken, name), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    const PATH = `${broken}:${process.env["PATH"]}`;
    expect(await buildInOwnProcess({ PYTHON: python, PATH })).toBe("true");
    await expect(buildInOwnProcess({ PATH })).rejects.toThrow("no python3 was found");
  });

  it("goes past a Python that is too old, and names it where there is no other", async () => {
    const { stdout: real } = await execa("python3", ["-c", "import sys; print(sys.executable)"]);
    for (const [name, version] of [
      ["python3", "3, 7"],
      ["python", "2, 7"],
    ] as const) {
      const asOld = `import sys; sys.version_info = (${version}, 1); exec(sys.argv[1])`;
      const script = `#!/bin/sh\nexec '${real}' -c '${asOld}' "$2"\n`;
      writeFileSync(join(root, name), script, { mode: 0o755 });
    }
    const PATH = `${root}:${process.env["PATH"]}`;
    expect(await buildInOwnProcess({ NODE_GYP_FORCE_PYTHON: real, PATH })).toBe("true");
    writeFileSync(join(root, "native/hello/main.cc"), "int main() { return 1; }\n");
    await expect(buildInOwnProcess({ PATH })).rejects.toThrow(
      "Python 3.8 or newer is needed to build the native part (node-gyp runs on it); python3 is Python 3.7, python is Python 2.7 (PYTHON names another)",
    );
    expect(await buildInOwnProcess({ PYTHON: real, PATH })).toBe("true");
  });

  it("takes the oldest Python that node-gyp's and our own files can be read by", async () => {
    const gyp = join(
      dirname(createRequire(import.meta.url).resolve("node-gyp/package.json")),
      "gyp",
    );
    const read = `import ast, glob, sys
minor, unreadable = int(sys.argv[1]), 0
for folder in sys.argv[2:]:
    for file in glob.glob(folder + "/**/*.py", recursive=True):
        try:
            ast.parse(open(file, encoding="utf-8").read(), feature_version=(3, minor))
        except SyntaxError:
            unreadable += 1
print(unreadable)`;
    const native = join(import.meta.dirname, "../../native");
    const unreadableBy = async (minor: number) =>
      Number((await execa("python3", ["-c", read, `${minor}`, gyp, native])).stdout);
    const oldest = Number(OLDEST_PYTHON.split(".")[1]);
    expect(await unreadableBy(oldest)).toBe(0);
    expect(await unreadableBy(oldest - 1)).toBeGreaterThan(0);
  });

  it("asks Pythons in node-gyp's order", () => {
    const env = { PYTHON: "b", npm_config_python: "a", OTHER: "x" };
    expect(pythonCandidates(env)).toEqual(["a", "b", "python3", "python"]);
    const project = { ...env, npm_package_config_node_gyp_python: "p" };
    expect(pythonCandidates(project)).toEqual(["p", "a", "b", "python3", "python"]);
    expect(pythonCandidates({ ...env, NODE_GYP_FORCE_PYTHON: "f" })).toEqual(["f"]);
    expect(pythonCandidates({ PYTHON: "" })).toEqual(["python3", "python"]);
  });

  it("keeps another variant in another directory, apart from the package's own build", async () => {
    const out = join(root, "elsewhere");
    const { binDir, info } = await buildNative({ root, out, ownNvtx: true, ...quiet });
    expect(binDir).toBe(join(out, "build/Release"));
    expect(info.nvtx).toBe("own client");
    expect(await hello(binDir)).toBe("one");
    expect(existsSync(join(root, "build"))).toBe(false);
    expect((await nativeStatus(root, { out, ownNvtx: true })).state).toBe("ready");
    expect((await nativeStatus(root, { out })).state).toBe("stale");
  });

  it("builds in the user's cache where the package may not be written to", async () => {
    if (process.getuid?.() === 0) {
      console.warn("SKIPPED build in the cache: root may write everywhere");
      return;
    }
    const cache = mkdtempSync(join(tmpdir(), "cache-"));
    chmodSync(root, 0o555);
    vi.stubEnv("XDG_CACHE_HOME", cache);
    try {
      const { binDir, info } = await buildNative({ root, ...quiet });
      expect(binDir).toBe(join(cache, "hydraconf", info.version, "build/Release"));
      expect(await hello(binDir)).toBe("one");
      expect((await nativeStatus(root)).state).toBe("ready");
    } finally {
      vi.unstubAllEnvs();
      chmodSync(root, 0o755);
      rmSync(cache, { recursive: true });
    }
  });

  it("falls back to the CPU where the GPU backend does not compile, unless it was asked for", async () => {
    const { home, smi } = addFakeToolkit(root, { compiles: false, gpu: "9.0" });
    vi.stubEnv("HYDRACONF_CUDA", "auto");
    vi.stubEnv("CUDA_HOME", home);
    vi.stubEnv("PATH", `${smi}:${process.env["PATH"]}`);
    try {
      const lines: string[] = [];
      const { binDir, info } = await buildNative({ root, log: (line) => void lines.push(line) });
      expect(await hello(binDir)).toBe("one");
      expect(info.backends).toEqual(["cpu"]);
      expect(info.gpu).toEqual({
        built: false,
        targets: null,
        libraries: [],
        reason: "it could not be compiled",
      });
      expect(lines[0]).toContain("GPU backend for sm_90+compute_90 by nvcc 13.0");
      expect(lines.join("\n")).toMatch(/only the CPU backend .*\n[\s\S]*unsupported host compiler/);
      // Not tried again every time.
      expect((await buildNative({ root, ...quiet })).built).toBe(false);

      vi.stubEnv("HYDRACONF_CUDA", "90");
      const failure = await buildNative({ root, ...quiet }).catch((error: unknown) => error);
      expect(String(failure)).toContain("unsupported host compiler");
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it("fails with the compiler's words and leaves nothing that looks built", async () => {
    await buildNative({ root, ...quiet });
    writeFileSync(join(root, "native/hello/main.cc"), "int main() { return undeclared_thing; }\n");
    const failure = await buildNative({ root, ...quiet }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(NativeBuildError);
    expect(String(failure)).toContain("undeclared_thing");
    expect(String(failure)).not.toContain("gyp info");
    expect((await nativeStatus(root)).state).toBe("absent");
  });

  it("uses what is built in a package that this user may not write to", async () => {
    if (process.getuid?.() === 0) {
      console.warn("SKIPPED build of somebody else's: root may write everywhere");
      return;
    }
    const { binDir } = await buildNative({ root, ...quiet });
    chmodSync(root, 0o555);
    vi.stubEnv("XDG_CACHE_HOME", "/nonexistent");
    try {
      expect(await nativeStatus(root)).toMatchObject({ state: "ready", binDir });
      expect(await buildNative({ root, ...quiet })).toMatchObject({ built: false, binDir });
    } finally {
      chmodSync(root, 0o755);
    }
  });

  it("builds nowhere else for a user without a home", async () => {
    const code = `
      const { buildPlace } = await import(process.argv[1]);
      console.log(buildPlace("/nonexistent", {}).dir);`;
    const module = new URL("../../native/building/place.mjs", import.meta.url).href;
    const { stdout } = await execa(
      process.execPath,
      ["--input-type=module", "--eval", code, module],
      { env: { HOME: "", XDG_CACHE_HOME: "" } },
    );
    expect(stdout).toBe("/nonexistent");
  });

  it("says where it cannot write, and what to do about it", async () => {
    const file = join(root, "package.json");
    const failure = await buildNative({ root, out: file, ...quiet }).catch(
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(NativeBuildError);
    expect(failure).toMatchObject({
      message: expect.stringMatching(/^the native part cannot be built in .*package\.json: E/),
      hint: expect.stringContaining("XDG_CACHE_HOME"),
    });
  });

  it("builds once for several callers at a time, and after one that was killed", async () => {
    // Process ids are never this large: the lock of a builder that is gone.
    const lock = join(root, "build/native-build.lock");
    const namespace = existsSync("/proc/self/ns/pid") ? readlinkSync("/proc/self/ns/pid") : null;
    mkdirSync(join(root, "build"));
    writeFileSync(lock, JSON.stringify({ host: hostname(), pid: 4194305, since: null, namespace }));
    const results = await Promise.all([1, 2, 3].map(() => buildInOwnProcess()));
    expect(results.filter((built) => built === "true")).toHaveLength(1);
    expect(existsSync(lock)).toBe(false);
  });
});

async function buildInOwnProcess(env: Readonly<Record<string, string>> = {}): Promise<string> {
  const code = `
    const { buildNative } = await import(process.argv[1]);
    const { built } = await buildNative({ root: process.argv[2], quiet: true });
    console.log(built);`;
  const { stdout } = await execa(
    process.execPath,
    [...["--input-type=module", "--eval", code, builder, root]],
    { env },
  );
  return stdout;
}
