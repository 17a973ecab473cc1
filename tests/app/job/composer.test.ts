import { describe, expect, test } from "vitest";
import { resolver } from "../../../src/index.ts";
import { program } from "../cli/program.ts";

/** A program whose resolver is called once in each composition: a mapping that is merged into an interpolation expands it. */
function counting(config = "") {
  let compositions = 0;
  const made = resolver("made", () => {
    compositions += 1;
    return { value: 0 };
  });
  const { run } = program(
    {
      "conf/config.yaml": `defaults: [first, _self_]\nnode:\n  other: 1\n${config}`,
      "conf/open.yaml": "defaults: [first, {group: '???'}, _self_]\nnode:\n  other: 1\n",
      "conf/first.yaml": "node: ${made:}\n",
      "conf/group/a.yaml": "x: 1\n",
    },
    { resolvers: [made] },
  );
  return {
    run: async (...argv: readonly string[]) => {
      compositions = 0;
      const { exitCode, stderr } = await run(argv);
      return { compositions, exitCode, stderr };
    },
  };
}

describe("how often a program composes", () => {
  test.each([
    { about: "--cfg", argv: ["--cfg", "job"], times: 1 },
    { about: "a run", argv: [], times: 1 },
    { about: "a run whose mode is overridden", argv: ["hydra.mode=RUN"], times: 1 },
    { about: "a run that logs how it is composed", argv: ["hydra.verbose=true"], times: 1 },
    { about: "--dry-run of a job", argv: ["--dry-run"], times: 1 },
    { about: "a sweep, and each of its two jobs", argv: ["-m", "+x=1,2"], times: 3 },
    { about: "the same by hydra.mode", argv: ["hydra.mode=MULTIRUN", "+x=1,2"], times: 3 },
    { about: "--dry-run of a sweep", argv: ["--dry-run", "-m", "+x=1,2"], times: 3 },
  ])("$about: $times", async ({ argv, times }) => {
    const { compositions, exitCode, stderr } = await counting().run(...argv);
    expect({ compositions, exitCode, stderr }).toEqual({
      compositions: times,
      exitCode: 0,
      stderr: "",
    });
  });

  test("the mode may be an interpolation of what the composition itself fills in", async () => {
    const config = "hydra:\n  mode: ${hydra.job.chdir}\n  job:\n    chdir: null\n";
    expect(await counting(config).run()).toMatchObject({ compositions: 1, exitCode: 0 });
  });

  test("a group that a sweep leaves open must be chosen by a run", async () => {
    const { run } = counting();
    const refused = await run("-cn", "open");
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain("You must specify 'group', e.g, group=<OPTION>");
    expect(await run("-cn", "open", "group=a")).toMatchObject({ compositions: 1, exitCode: 0 });
  });

  test("a run refuses sweeps, and a sweep those over Hydra's own configuration", async () => {
    const { run } = counting();
    expect((await run("+x=1,2")).stderr).toContain("Ambiguous value for argument '+x=1,2'");
    expect((await run("-m", "hydra.job.num=1,2")).stderr).toContain(
      "Sweeping over Hydra's configuration is not supported",
    );
  });
});
