import { describe, expect, it } from "vitest";
import { profileCommand } from "../../../src/profile/nsys/run/command.ts";
import { checkExtraOptions } from "../../../src/profile/nsys/run/extra-options.ts";
import { isConfigError } from "../../../src/values/errors.ts";
import { settings } from "./settings.ts";

function refusalOf(...extra_args: string[]): string | null {
  try {
    checkExtraOptions({ extra_args });
    return null;
  } catch (error) {
    if (!isConfigError(error)) throw error;
    expect(error.details).toMatchObject({
      code: "profile.nsys_option",
      key: "pipeline.nsys.extra_args",
    });
    return `${error.details.message}; ${error.details.hint}`;
  }
}

describe("extra arguments of nsys", () => {
  it.each([
    [["-o", "/tmp/x"], "--output"],
    [["-o/tmp/x"], "--output"],
    [["--output=/tmp/x"], "--output"],
    [["--outp=/tmp/x"], "--output"],
    [["--wait", "primary", "-f", "true"], "--force-overwrite"],
    [["-tcuda"], "--trace"],
    [["--sample", "none"], "--sample"],
    [["--cuda-graph-trace=graph"], "--cuda-graph-trace"],
    [["-c", "nvtx"], "--capture-range"],
    [["--capture-range-end=stop"], "--capture-range-end"],
    [["-p", "step"], "--nvtx-capture"],
  ] as const)("that give what is set already are refused: %j", (args, name) => {
    expect(refusalOf(...args)).toContain(`pipeline.nsys.extra_args: ${name} cannot be given; `);
  });

  it("name the key that sets it", () => {
    expect(refusalOf("--trace=cuda")).toContain("use pipeline.nsys.trace");
    expect(refusalOf("-o", "x")).toContain("hydra.run.dir");
  });

  it("are else nsys's own matter", () => {
    expect(refusalOf("--wait", "primary", "--trace-fork-before-exec=true", "-d", "3")).toBeNull();
    expect(refusalOf("--cpuctxsw=process-tree", "--", "-")).toBeNull();
  });

  it("say of context switches what is recorded, which no key does", () => {
    const { argv } = profileCommand(
      { path: "nsys", options: new Set(["cpuctxsw"]) },
      settings({ extra_args: ["--cpuctxsw=process-tree"] }),
      "/run",
      { argv: ["prog"] },
    );
    expect(argv.filter((word) => word.startsWith("--cpuctxsw"))).toEqual([
      "--cpuctxsw=process-tree",
    ]);
  });
});
