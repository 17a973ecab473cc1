import { describe, expect, it } from "vitest";
import { shortenPath } from "../../src/pages/shorten-path.ts";

const region = (...path: readonly string[]) => ({
  label: path.at(-1) ?? "",
  path: path.join(" / "),
});

describe("shortenPath", () => {
  it.each([
    [region("a", "b"), 5, "a / b"],
    [region("decode", "attention"), 13, "… / attention"],
    [region("decode", "attention"), 12, "…/ attention"],
    [region("decode", "attention"), 8, "attenti…"],
    // East Asian signs take two characters each, and are never cut in two.
    [region("漢字", "かな"), 11, "漢字 / かな"],
    [region("漢字", "かな"), 10, "…字 / かな"],
    [region("漢字かなカナ"), 8, "漢字か…"],
    [region("xyz", "𠀀𠀁"), 8, "… / 𠀀𠀁"],
    [region("𠀀𠀁𠀂"), 5, "𠀀𠀁…"],
  ])("%j in %d characters is %s", (named, most, text) => {
    expect(shortenPath(named, most)).toBe(text);
  });
});
