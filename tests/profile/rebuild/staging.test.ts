import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openStaging } from "../../../src/profile/rebuild/staging.ts";

const LOADER = fileURLToPath(new URL("../../../scripts/typescript-loader.mjs", import.meta.url));
const STAGING = fileURLToPath(new URL("../../../src/profile/rebuild/staging.ts", import.meta.url));

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "hydraconf-staging-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it("is a folder until it is removed, which gives the signals back", () => {
  const before = process.listenerCount("SIGINT");
  const staging = openStaging(directory);
  expect(readdirSync(directory)).toEqual([staging.directory.slice(directory.length + 1)]);
  staging.remove();
  expect([readdirSync(directory), process.listenerCount("SIGINT")]).toEqual([[], before]);
});

it("leaves nothing where a signal ends the process", async () => {
  const program = `
    import { writeFileSync } from "node:fs";
    import { openStaging } from ${JSON.stringify(STAGING)};
    const staging = openStaging(".");
    writeFileSync(staging.directory + "/report.json", "{}");
    setInterval(() => {}, 1000);
    process.kill(process.pid, "SIGTERM");`;
  const { exitCode } = await execa(
    process.execPath,
    ["--import", LOADER, "--input-type=module", "--eval", program],
    { cwd: directory, reject: false },
  );
  expect([exitCode, readdirSync(directory)]).toEqual([143, []]);
});
