import { spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { packageInfo } from "../../src/engine/values/package-info.ts";
import { writeSlowCompiler } from "../native/slow-compiler.ts";
import { eventually } from "../wait.ts";
import { commandPath, temporaryDirectory } from "./command.ts";

const here = temporaryDirectory();
const clone = join(here.path, "clone");
/** Without a blank: CXX is a command line. */
const tools = mkdtempSync(join(tmpdir(), "slow-"));

/** A package whose native part nobody has built yet. */
beforeAll(() => {
  const { root } = packageInfo();
  for (const name of ["dist", "conf", "schemas", "native", "package.json", "binding.gyp"])
    cpSync(join(root, name), join(clone, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
  return () => {
    here.remove();
    rmSync(tools, { recursive: true });
  };
});

it.each([
  ["SIGTERM", 143, []],
  ["SIGINT", 130, []],
  ["SIGHUP", 129, ["--dry-run"]],
] as const)(
  "%s ends the first build with %i, and nothing of it runs or is left",
  async (signal, code, options) => {
    const run = join(here.path, signal);
    const compilerPid = join(here.path, `${signal}.pid`);
    const child = spawn(
      process.execPath,
      [commandPath("deep-profile", join(clone, "dist/bin")), `hydra.run.dir=${run}`, ...options],
      {
        cwd: here.path,
        env: {
          ...process.env,
          CXX: writeSlowCompiler(tools, compilerPid),
          HYDRACONF_CUDA: "0",
        },
        stdio: ["ignore", "ignore", "pipe"],
        detached: true,
      },
    );
    onTestFinished(() => void child.kill("SIGKILL"));
    const ended = new Promise<number | null>((done) => child.on("exit", done));
    const said = text(child.stderr);
    const pid = await eventually(() => JSON.parse(readFileSync(compilerPid, "utf8")));
    // As a terminal does: to all of the group.
    process.kill(-(child.pid ?? 0), signal);
    expect(await ended).toBe(code);
    // Ended, and its end seen by who inherited it.
    await eventually(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"));
    expect(existsSync(join(clone, "build/Release"))).toBe(false);
    expect(readdirSync(join(clone, "build"))).not.toContain("native-build.lock");
    const lines = (await said).split("\n").filter((line) => line.includes("topped"));
    expect(lines).toEqual([
      `stopped by ${signal} while the native part was built; nothing was measured`,
    ]);
  },
);
