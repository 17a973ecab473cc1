import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { eventually } from "../wait.ts";
import { commandPath, temporaryDirectory } from "./command.ts";

const here = temporaryDirectory();
afterAll(here.remove);

/** A tool that writes a part of its output, hangs, and does not hear. */
function writeHangingTool(folder: string, name: string, output: string): string {
  mkdirSync(folder, { recursive: true });
  const pidFile = join(folder, "pid");
  const tool = join(folder, name);
  writeFileSync(
    tool,
    `#!/bin/sh
case "$1" in
--version) echo "Version 2024.1.0.0"; exit 0 ;;
--help) echo "  --page arg  raw"; exit 0 ;;
esac
trap '' TERM INT HUP
for argument; do case $argument in --output=*) echo half > "\${argument#--output=}" ;; esac; done
${output}
sleep 1000 &
echo $! > '${pidFile}'
wait
wait
`,
  );
  chmodSync(tool, 0o755);
  return pidFile;
}

const LARGE = "large ".repeat(500_000);

it.each([
  ["SIGINT", 130, "nsys", "run.nsys-rep", "NVIDIA Tegra Profiler Report 2023@4"],
  ["SIGHUP", 129, "nsys", "run.nsys-rep", "NVIDIA Tegra Profiler Report 2023@4"],
  ["SIGTERM", 143, "ncu", "run.ncu-rep", "NVR\0"],
  // A large one is read in a process of its own.
  ["SIGTERM", 143, "nsys", "run.nsys-rep", `NVIDIA Tegra Profiler Report 2023@4${LARGE}`],
  ["SIGINT", 130, "ncu", "run.ncu-rep", `NVR\0${LARGE}`],
] as const)(
  "%s ends an import with %i, and the %s that hangs over %s",
  async (signal, code, tool, name, content) => {
    const place = join(here.path, `${tool} ${signal} ${content.length}`);
    const [tools, temporary, output] = [join(place, "tools"), join(place, "tmp"), join(place, "o")];
    const pidFile = writeHangingTool(tools, tool, "echo half a table");
    mkdirSync(temporary);
    writeFileSync(join(place, name), content);
    const child = spawn(
      process.execPath,
      [commandPath("deep-profile"), "import", name, "-o", output],
      {
        cwd: place,
        env: { ...process.env, HYDRACONF_NSIGHT: tools, TMPDIR: temporary },
        stdio: ["ignore", "ignore", "pipe"],
        detached: true,
      },
    );
    onTestFinished(() => void child.kill("SIGKILL"));
    const ended = new Promise<number | null>((done) => child.on("exit", done));
    const said = text(child.stderr);
    const pid = await eventually(() => {
      const written = readFileSync(pidFile, "utf8");
      expect(written).toMatch(/\n/);
      return Number(written);
    });
    // As a terminal does: to all of the group.
    process.kill(-(child.pid ?? 0), signal);
    expect(await ended).toBe(code);
    expect(await said).toContain(
      `stopped by ${signal}; no reports were written: the same command makes them\n`,
    );
    await eventually(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"));
    expect(readdirSync(temporary)).toEqual([]);
    expect(existsSync(output)).toBe(false);
    expect(readdirSync(place).sort()).toEqual([name, "tmp", "tools"].sort());
  },
);

it("a file that cannot be written is called as it would have been", () => {
  const recording = fileURLToPath(
    new URL("../fixtures/recordings/resnet-regions", import.meta.url),
  );
  const place = join(here.path, "too large");
  mkdirSync(place);
  const { status, stderr } = spawnSync(
    "sh",
    [
      ...["-c", 'trap "" XFSZ; ulimit -f 8; exec "$@"', "sh", process.execPath],
      ...[commandPath("deep-profile"), "import", recording, "-o", "out"],
    ],
    { cwd: place, encoding: "utf8" },
  );
  expect(status).toBe(1);
  expect(stderr).toContain(
    `'${join(place, "out/recorder/regions/report.json")}': the file would be larger than its file system or ulimit -f allows`,
  );
  expect(stderr).not.toContain(".tmp");
  expect(readdirSync(place)).toEqual([]);
});
