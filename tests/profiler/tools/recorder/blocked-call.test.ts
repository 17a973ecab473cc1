import { describe, expect, it } from "vitest";
import { stateInCall } from "../../../../src/profiler/tools/recorder/blocked-call.ts";

const WAIT_PRIVATE = "0x80";
const WAIT_BITSET_PRIVATE = "0x189";
const WAIT_BITSET_SHARED = "0x109";
const SP = "0x0 0x0 0x7ffc 0x7f84";

describe("the system call that a thread waits in", () => {
  const state = (line: string | null, target: string | null = null, isUninterruptible = false) =>
    stateInCall(line, isUninterruptible, () => target, "x64");

  it.each([
    [`202 0x55 ${WAIT_PRIVATE} 0x2 0x0 ${SP}`, "lock"],
    [`202 0x55 ${WAIT_BITSET_PRIVATE} 0x0 0x0 ${SP}`, "condition"],
    [`202 0x55 ${WAIT_BITSET_PRIVATE} 0x0 0x7ffd ${SP}`, "timed_condition"],
    [`202 0x55 ${WAIT_BITSET_SHARED} 0x7a31 0x0 ${SP}`, "join"],
    [`230 0x0 0x0 0x7ffc 0x7ffc ${SP}`, "sleep"],
    [`61 0xffffffff 0x0 0x0 0x0 ${SP}`, "child"],
    [`75 0x3 0x0 0x0 0x0 ${SP}`, "file"],
    [`232 0x3 0x0 0x0 0x0 ${SP}`, "poll"],
    [`70 0x3 0x0 0x0 0x0 ${SP}`, "other"],
  ])("%s is %s", (line, expected) => {
    expect(state(line)).toBe(expected);
  });

  it.each([
    ["pipe:[1]", "pipe"],
    ["socket:[1]", "socket"],
    ["anon_inode:[eventfd]", "poll"],
    ["/dev/pts/0", "device"],
    ["/data/file", "file"],
    [null, "other"],
  ])("a read of %s waits for %s", (target, expected) => {
    expect(state(`0 0x3 0x7ffc 0x1 0x0 ${SP}`, target)).toBe(expected);
  });

  it("is a file in an uninterruptible wait, also where the kernel refuses to tell", () => {
    expect(state(`0 0x3 0x7ffc 0x1 0x0 ${SP}`, "socket:[1]", true)).toBe("file");
    // A page of a mapped file that is read: no system call.
    expect(state("-1 0x7ffc 0x7f84", null, true)).toBe("file");
    expect(state(null, null, true)).toBe("file");
    expect(state(null)).toBe("unknown");
  });

  it("is a wait even if it was over before its call was read", () => {
    expect(state("running\n")).toBe("other");
    expect(state("running\n", null, true)).toBe("file");
  });

  it("has other numbers on arm64", () => {
    const line = `98 0x55 ${WAIT_PRIVATE} 0x2 0x0 ${SP}`;
    expect(stateInCall(line, false, () => null, "arm64")).toBe("lock");
    expect(stateInCall(`115 0x0 0x0 0x0 0x0 ${SP}`, false, () => null, "arm64")).toBe("sleep");
  });
});
