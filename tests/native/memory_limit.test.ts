import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { afterAll, describe, expect, test } from "vitest";
import { availableClients, buildFixture } from "./fixtures.ts";

const source = new URL("../../native/common/memory_limit.cc", import.meta.url).pathname;
const directory = mkdtempSync(join(tmpdir(), "memory-limit-"));
afterAll(() => rmSync(directory, { recursive: true }));

/** What is read of a file system of control groups. */
async function limitOf(groups: string, limits: Readonly<Record<string, string>>): Promise<number> {
  const root = mkdtempSync(join(directory, "groups-"));
  for (const [name, text] of Object.entries(limits)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), `${text}\n`);
  }
  const own = join(root, "self");
  writeFileSync(own, groups);
  const program = await buildFixture("memory_limit.cc", "own client", [source]);
  return Number((await execa(program, [own, root])).stdout);
}

const clients = availableClients("the memory of control groups");

describe.runIf(clients.length > 0)("the memory that a control group leaves", () => {
  const step = "/slurm/uid_7/job_1/step_0";

  test.each<[string, string, Readonly<Record<string, string>>, number]>([
    ["none", "0::/\n", {}, 0],
    ["version 2, its own", `0::${step}\n`, { [`${step}/memory.max`]: "4096" }, 4096],
    ["version 2, one above it", `0::${step}\n`, { "slurm/uid_7/job_1/memory.max": "8192" }, 8192],
    [
      "the strictest of several",
      `0::${step}\n`,
      {
        [`${step}/memory.max`]: "max",
        "slurm/uid_7/job_1/memory.max": "8192",
        "slurm/memory.max": "4096",
      },
      4096,
    ],
    ["a container's, which is its root", "0::/\n", { "memory.max": "512" }, 512],
    [
      "a container's of version 1, whose groups have the host's names",
      "4:memory:/docker/1f\n",
      { "memory/memory.limit_in_bytes": "512" },
      512,
    ],
    [
      "version 1 among others, with a colon in its name",
      `9:name=systemd:/\n5:cpu,memory:${step}/a:b\n0::/\n`,
      { [`memory${step}/a:b/memory.limit_in_bytes`]: "64" },
      64,
    ],
    ["another controller's", "5:cpu:/a\n", { "memory/a/memory.limit_in_bytes": "64" }, 0],
    ["a text that is none", "\n:\n::\n0:\n", { "memory.max": "-" }, 0],
  ])("%s", async (_, groups, limits, expected) => {
    expect(await limitOf(groups, limits)).toBe(expected);
  });
});
