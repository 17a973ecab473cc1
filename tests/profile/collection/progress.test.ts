import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { silentProgress, terminalProgress } from "../../../src/profile/collection/progress.ts";

const terminal = () =>
  Object.assign(new PassThrough(), {
    isTTY: true,
    columns: 80,
    cursorTo: () => true,
    moveCursor: () => true,
    clearLine: () => true,
  }) as unknown as NodeJS.WriteStream;

/** All of it: from Node 26 on one `read` gives what one `write` took. */
function written(stream: PassThrough): string {
  const chunks: unknown[] = [];
  for (let chunk = stream.read(); chunk !== null; chunk = stream.read()) chunks.push(chunk);
  return chunks.join("");
}

describe("terminalProgress", () => {
  it("leaves signals to the code that reports what was recorded", () => {
    const counts = () => ["SIGINT", "SIGTERM", "SIGHUP"].map((name) => process.listenerCount(name));
    const before = counts();
    const progress = terminalProgress(terminal());
    progress.update("recording");
    expect(counts()).toEqual(before);
    progress.stop();
  });

  it("says what goes on, and for how long", () => {
    const stream = terminal();
    const progress = terminalProgress(stream);
    progress.update("recording 3 ranges");
    progress.stop();
    expect(written(stream as unknown as PassThrough)).toMatch(/recording 3 ranges \(\d+\.\d s\)/);
  });

  it("is silent where nobody watches", () => {
    const stream = Object.assign(new PassThrough(), { isTTY: false });
    expect(terminalProgress(stream as unknown as NodeJS.WriteStream)).toBe(silentProgress);
  });
});
