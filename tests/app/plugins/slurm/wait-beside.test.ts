import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { slurmLauncher } from "../../../../src/app/plugins/slurm/slurm-launcher.ts";
import { noteSubmissions, slurmFolder } from "../../../../src/app/plugins/slurm/submissions.ts";
import { claimSweep } from "../../../../src/app/record/launcher-claim.ts";
import { jobsFolder, sweepFolder } from "../../../../src/app/record/layout.ts";
import { waitForSweep } from "../../../../src/app/sweep/wait.ts";
import { factsIn, writeSweep } from "../../record/written.ts";

afterEach(() => void vi.restoreAllMocks());

test("a second process that waits reports once what holds a job, even if Slurm stops answering meanwhile", async () => {
  const directory = mkdtempSync(join(tmpdir(), "hydraconf-beside-"));
  const folder = sweepFolder(directory);
  mkdirSync(jobsFolder(folder), { recursive: true });
  mkdirSync(slurmFolder(folder), { recursive: true });
  writeSweep(
    folder,
    factsIn(directory, { launcher: "hydraconf.SlurmLauncher", launcher_choice: "slurm" }),
  );
  noteSubmissions(folder, [{ script: "/s/1.sh", array: "7", jobs: [{ number: 0, attempts: 0 }] }]);
  claimSweep(folder);
  const bin = mkdtempSync(join(tmpdir(), "hydraconf-squeue-"));
  // It has an answer, then none, then the same one, then two that change places, and then another.
  writeFileSync(
    join(bin, "squeue"),
    `#!/bin/sh
    case "$*" in *--json*) echo "unrecognized option '--json'" >&2; exit 1 ;; esac
    echo >> '${bin}/asked'
    n=0; while read -r _; do n=$((n + 1)); done < '${bin}/asked'
    case $n in
      2) echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1 ;;
      1 | 3) echo '7|0|PENDING|JobHeldUser' ;;
      4 | 6) echo '7|0|PENDING|ReqNodeNotAvail, UnavailableNodes:n1' ;;
      5 | 7) echo '7|0|PENDING|Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions' ;;
      *) echo '7|0|PENDING|JobHeldAdmin' ;;
    esac\n`,
    { mode: 0o755 },
  );
  let clock = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (clock += 60_000));
  const told: string[] = [];
  const stop = new AbortController();
  await waitForSweep({
    directory,
    launchers: [slurmLauncher],
    env: { PATH: bin },
    signal: stop.signal,
    onHeld: (_held, pendingReason) => {
      told.push(pendingReason);
      if (/JobHeldAdmin/.test(pendingReason)) stop.abort();
    },
  });
  expect(told.map((text) => /\((\w+)/.exec(text)?.[1])).toEqual([
    "JobHeldUser",
    "ReqNodeNotAvail",
    "Nodes",
    "JobHeldAdmin",
  ]);
});
