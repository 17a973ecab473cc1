import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { buildNative, nativeStatus } from "../../native/build.mjs";
import { eventually } from "../wait.ts";
import { writeSlowCompiler } from "./slow-compiler.ts";
import { hello, writeSmallPackage } from "./small-package.ts";

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

// tests/e2e/stopped-build.slow.ts stops a build by Ctrl-C.
describe("buildNative", () => {
  it("ends all that builds when it is told to stop, leaves nothing half built, and builds the next time", async () => {
    const compilerPid = join(root, "compiler.pid");
    // Elsewhere than in `root`, whose name has blanks: CXX is a command line.
    const tools = mkdtempSync(join(tmpdir(), "slow-"));
    onTestFinished(() => rmSync(tools, { recursive: true }));
    vi.stubEnv("CXX", writeSlowCompiler(tools, compilerPid));
    const stop = new AbortController();
    const build = buildNative({ root, quiet: true, signal: stop.signal });
    const isStopped = expect(build).rejects.toBe("SIGTERM");
    const pid = await eventually(() => JSON.parse(readFileSync(compilerPid, "utf8")));
    stop.abort("SIGTERM");
    await isStopped;
    // Ended, and its end seen by who inherited it.
    await eventually(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"));
    expect(existsSync(join(root, "build/Release"))).toBe(false);
    expect((await nativeStatus(root)).state).toBe("absent");

    vi.stubEnv("CXX", undefined);
    expect(await hello((await buildNative({ root, quiet: true })).binDir)).toBe("one");
  });
});
