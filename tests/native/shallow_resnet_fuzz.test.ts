import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runs } from "../runs.ts";
import { nativeProgram, runProgram } from "./programs.ts";
import { assemble } from "./safetensors.ts";

const directory = mkdtempSync(join(tmpdir(), "shallow-resnet-fuzz-"));
let program = "";
beforeAll(async () => {
  program = await nativeProgram("shallow_resnet");
});
afterAll(() => rmSync(directory, { recursive: true }));

/** Raise it to look longer, best at a build with sanitizers (HYDRACONF_NATIVE_BIN). */
const RUNS = runs(60);

const header = JSON.stringify({
  __metadata__: { "fo\u00e9": "b\\a\n" },
  x: { dtype: "F32", shape: [1, 1, 2, 2], data_offsets: [0, 16] },
});
const valid = assemble(header, Buffer.alloc(16));

/** A piece of the valid file replaced by something that the format's readers trip over. */
const edit = fc.record({
  at: fc.nat(valid.length),
  remove: fc.nat(12),
  insert: fc.oneof(
    fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
    fc
      .constantFrom('"', "{", "}", "[", "]", ",", ":", "0", "-1", "1e9", "\\u", "\\", "99999999999")
      .map((text) => Buffer.from(text)),
  ),
});

it("takes or refuses every damaged file in one line, and never crashes", async () => {
  const path = join(directory, "x.safetensors");
  const args = ["--in-channels=1", "--base-channels=1", "--batch-size=1", "--image-size=2"];
  const run = () => runProgram(program, [...args, "--iterations=1", "--input", path]);
  writeFileSync(path, valid);
  expect((await run()).code).toBe(0);

  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 3 }), async (edits) => {
      let bytes: Buffer = valid;
      for (const { at, remove, insert } of edits)
        bytes = Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + remove)]);
      // The length stays right as a rule, so that the damage is looked at and not just counted.
      const claimed = Math.max(0, bytes.length - 24);
      if (bytes.length >= 24) bytes.writeBigUInt64LE(BigInt(claimed));
      writeFileSync(path, bytes);
      const { code, stderr } = await run();
      expect([0, 1]).toContain(code);
      if (code === 1) expect(stderr).toMatch(/^shallow_resnet: .*$/);
    }),
    { numRuns: RUNS },
  );
});
