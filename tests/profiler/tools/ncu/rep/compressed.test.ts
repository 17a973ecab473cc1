import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { isCodedError } from "../../../../../src/engine/values/errors.ts";
import { findExecutable } from "../../../../../src/foundation/system/find-program.ts";
import { findReport } from "../../../../../src/profiler/tools/ncu/rep/compressed.ts";
import { REPORT_MAGIC } from "../../../../../src/profiler/tools/ncu/rep/file-blocks.ts";
import { samplesOrSkip } from "../../../../shared.ts";
import { readNcuReport } from "./whole-report.ts";

const what = "reports that ncu compressed";
const sample = samplesOrSkip(what);
const zstd = findExecutable("zstd", "/");
if (zstd === null) console.warn(`skipped: ${what} (no zstd)`);

const directory = mkdtempSync(join(tmpdir(), "hydraconf-compressed-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
afterEach(() => vi.unstubAllEnvs());

const compressed = (name: string): string => {
  const file = join(directory, name);
  execFileSync(zstd ?? "", ["-q", "-f", sample?.("r1.ncu-rep") ?? "", "-o", file]);
  return file;
};

const packed = (name: string, content: Uint8Array): string => {
  const file = join(directory, name);
  writeFileSync(file, execFileSync(zstd ?? "", ["-q", "-c"], { input: content }));
  return file;
};

function refusal(path: string) {
  try {
    readNcuReport(path);
  } catch (error) {
    if (isCodedError(error)) return error.details;
    throw error;
  }
  return null;
}

describe.skipIf(sample === null || zstd === null)("a compressed report", () => {
  test("holds what it held before, and leaves nothing behind", () => {
    const scratch = mkdtempSync(join(directory, "scratch-"));
    vi.stubEnv("TMPDIR", scratch);
    const { results, notes } = readNcuReport(compressed("r1.ncu-repz"));
    expect(results).toEqual(readNcuReport(sample?.("r1.ncu-rep") ?? "").results);
    expect(notes).toEqual([]);
    expect(readdirSync(scratch)).toEqual([]);
  });

  test("that is cut short is an error in zstd's words", () => {
    const path = compressed("cut.ncu-repz");
    truncateSync(path, 10_000);
    expect(refusal(path)?.message).toContain(`${path}: zstd could not unpack it: `);
  });

  test("of something else is no report", () => {
    const [plain, packed] = [join(directory, "text"), join(directory, "text.ncu-repz")];
    writeFileSync(plain, "no report at all");
    execFileSync(zstd ?? "", ["-q", plain, "-o", packed]);
    expect(refusal(packed)?.message).toContain("has the wrong signature");
  });

  test("of something else is not unpacked beyond its first bytes", () => {
    const path = packed("zeros.ncu-repz", Buffer.alloc(64_000_000));
    const none = mkdtempSync(join(directory, "none-"));
    // A report is unpacked to a file: here none can be made.
    vi.stubEnv("TMPDIR", join(none, "absent"));
    expect(refusal(path)?.message).toContain("has the wrong signature");
  });

  test("that holds too much is unpacked up to the limit, and nothing is left of it", () => {
    const path = packed("large.ncu-repz", Buffer.concat([REPORT_MAGIC, Buffer.alloc(64_000_000)]));
    const scratch = mkdtempSync(join(directory, "scratch-"));
    vi.stubEnv("TMPDIR", scratch);
    vi.stubEnv("HYDRACONF_MAX_UNPACKED_BYTES", "1000000");
    expect(refusal(path)).toMatchObject({
      code: "limit.unpacked_bytes",
      message: `${path} is compressed, and holds more than 1,000,000 bytes`,
      hint: expect.stringContaining("HYDRACONF_MAX_UNPACKED_BYTES=10000000"),
    });
    expect(readdirSync(scratch)).toEqual([]);
    vi.stubEnv("HYDRACONF_MAX_UNPACKED_BYTES", "64000004");
    expect(refusal(path)?.message).toContain("its header is damaged");
    vi.stubEnv("HYDRACONF_MAX_UNPACKED_BYTES", "64000003");
    expect(refusal(path)?.code).toBe("limit.unpacked_bytes");
  });

  test("needs zstd, or an ncu that knows it", () => {
    const path = compressed("alone.ncu-repz");
    vi.stubEnv("PATH", directory);
    expect(refusal(path)).toMatchObject({
      code: "profile.input",
      message: `${path}: it is compressed, and zstd is not installed`,
      hint: expect.stringContaining("zstd -d"),
    });
  });
});

test("ncu leaves a report under the name that it was given, compressed or not", () => {
  const base = join(directory, "level-1");
  expect(findReport(base)).toBeNull();
  writeFileSync(`${base}.ncu-repz`, "");
  expect(findReport(base)).toBe(`${base}.ncu-repz`);
  writeFileSync(`${base}.ncu-rep`, "");
  expect(findReport(base)).toBe(`${base}.ncu-rep`);
});
