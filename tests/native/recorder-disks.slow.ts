import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  type RecordedTimeline,
  readRecordingFiles,
  recordingFiles,
} from "../../src/profiler/tools/recorder/read.ts";
import { canMount, withDisk } from "../app/cli/mounts.ts";
import { availableClients, buildFixture, recorderEnvironment } from "./fixtures.ts";

/**
 * Recordings on disks that become full, have a quota, or fail later than at the write. The program must not notice. In
 * `npm run nightly` ten times.
 */

const ROUNDS = Number(process.env["HYDRACONF_DISK_ROUNDS"] ?? 1);
const RANGES = 1_000_000;
const HUNG_MS = 300_000;

interface Disk {
  readonly name: string;
  /** The program that makes the file system. */
  readonly needs: string;
  /** How recordings get there. */
  readonly writing: "mapped" | "staged";
  readonly mounted: <T>(test: (folder: string) => Promise<T>) => Promise<T>;
  /** Whether the device fails only after the system has taken the data. */
  readonly failsLate?: true;
}

/** A file system in a file, which is larger than the disk below it may be. */
async function withImage<T>(
  folder: string,
  [make, ...options]: readonly [string, ...string[]],
  megabytes: number,
  test: (folder: string) => Promise<T>,
): Promise<T> {
  const image = join(folder, "image");
  writeFileSync(image, "");
  truncateSync(image, megabytes << 20);
  execFileSync(make, [...options, image], { stdio: "pipe" });
  const place = mkdtempSync(join(tmpdir(), "hydraconf-mount-"));
  execFileSync("mount", ["-o", "loop", image, place], { stdio: "pipe" });
  try {
    return await test(place);
  } finally {
    execFileSync("umount", ["--lazy", place]);
    rmdirSync(place);
    rmSync(image, { force: true });
  }
}

const BTRFS = ["mkfs.btrfs", "-q"] as const;
const EXT4 = ["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=1,lazy_journal_init=1"] as const;

/** Leaves a few megabytes of a btrfs of 120. */
const reduced = <T>(test: (folder: string) => Promise<T>) =>
  withDisk("size=200m", (below) =>
    withImage(below, BTRFS, 120, (folder) => {
      execFileSync("fallocate", ["--length", "24M", join(folder, "filler")], { stdio: "pipe" });
      return test(folder);
    }),
  );

const DISKS: readonly Disk[] = [
  { name: "a btrfs", needs: "mkfs.btrfs", writing: "staged", mounted: reduced },
  {
    name: "a btrfs with a quota",
    needs: "mkfs.btrfs",
    writing: "staged",
    mounted: (test) =>
      withDisk("size=200m", (below) =>
        withImage(below, BTRFS, 120, (folder) => {
          const volume = join(folder, "volume");
          const btrfs = (...argv: string[]) => execFileSync("btrfs", argv, { stdio: "pipe" });
          btrfs("quota", "enable", folder);
          btrfs("subvolume", "create", volume);
          btrfs("qgroup", "limit", "8M", volume);
          return test(volume);
        }),
      ),
  },
  {
    name: "an ext4",
    needs: "mkfs.ext4",
    writing: "mapped",
    mounted: (test) => withDisk("size=40m", (below) => withImage(below, EXT4, 20, test)),
  },
  {
    name: "a tmpfs",
    needs: "mount",
    writing: "mapped",
    mounted: (test) => withDisk("size=4m", test),
  },
  {
    name: "an ext4 on a device that fails",
    needs: "mkfs.ext4",
    writing: "mapped",
    mounted: (test) => withDisk("size=20m", (below) => withImage(below, EXT4, 300, test)),
    failsLate: true,
  },
  {
    name: "a btrfs on a device that fails",
    needs: "mkfs.btrfs",
    writing: "staged",
    mounted: (test) => withDisk("size=20m", (below) => withImage(below, BTRFS, 300, test)),
    failsLate: true,
  },
];

function isMissing(program: string): boolean {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`], { stdio: "ignore" });
    return false;
  } catch {
    return true;
  }
}

/** Without its own directory the program never finds a recorder. */
async function run(program: string, env: Readonly<Record<string, string>>) {
  const running = execa(program, [`${RANGES}`], {
    env,
    reject: false,
    timeout: HUNG_MS,
    killSignal: "SIGKILL",
  });
  const { exitCode, signal, stdout, stderr, timedOut } = await running;
  return { seen: { exitCode, signal, stdout, stderr, timedOut }, pid: running.pid };
}

/** Stages stay where the recording has no room for them. */
function removeStages(pid: number | undefined): void {
  for (const name of readdirSync("/dev/shm"))
    if (name.startsWith(`events-${pid}-`)) rmSync(join("/dev/shm", name), { force: true });
}

/** Events that are in the recording or counted as lost. */
function accounted({ processes }: RecordedTimeline): number {
  const [process] = processes;
  const ranges = process?.ranges ?? [];
  const notes = process?.notes.join("\n") ?? "";
  const lost = /([\d,]+) events? could not be recorded/.exec(notes)?.[1] ?? "0";
  const recorded = ranges.length + ranges.filter(({ endNs }) => endNs !== null).length;
  return recorded + Number(lost.replaceAll(",", ""));
}

const clients =
  process.platform === "linux" && canMount("recordings on full disks")
    ? availableClients("recordings on full disks").slice(0, 1)
    : [];

describe.each(clients)("a program with a million ranges, of the %s, does not notice", (client) => {
  test.each(DISKS.map((disk) => [disk.name, disk] as const))(
    "that it is recorded on %s",
    async (_, { needs, mounted, writing, failsLate }) => {
      if (isMissing(needs)) {
        console.warn(`SKIPPED ${needs} is not installed`);
        return;
      }
      const program = await buildFixture("many_ranges.cc", client);
      const { seen: plain } = await run(program, {});
      expect(plain).toMatchObject({ exitCode: 7, stderr: "" });
      for (let round = 0; round < ROUNDS; round++) {
        await mounted(async (folder) => {
          const recordings = join(folder, "recordings");
          mkdirSync(recordings);
          const { seen, pid } = await run(program, await recorderEnvironment(recordings));
          onTestFinished(() => removeStages(pid));
          expect(seen).toEqual(plain);
          // Of a device that has lost what it took nobody knows.
          if (failsLate) return;
          const timeline = readRecordingFiles(recordingFiles(recordings), RANGES);
          expect(timeline.processes[0]?.notes.join("\n")).toMatch(
            /recording stopped after .* \((ENOSPC|EDQUOT)\)/,
          );
          expect(accounted(timeline)).toBe(2 * RANGES);
          expect(timeline.processes[0]?.finished).toBe(true);
          console.log(`${timeline.processes[0]?.ranges.length} ranges, ${writing}`);
        });
      }
    },
    HUNG_MS * 2 * ROUNDS,
  );
});
