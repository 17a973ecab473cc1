import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createTargets, instantiate, instantiateAsync } from "../../src/index.ts";
import { refusal } from "./library.ts";

describe("modules", () => {
  const base = mkdtempSync(join(tmpdir(), "hydraconf-targets-"));
  afterAll(() => rmSync(base, { recursive: true }));
  writeFileSync(
    join(base, "models.mjs"),
    "export class Neet { constructor(o) { this.o = o } static of(o) { return new Neet(o) } }\nexport const size = 3;",
  );
  writeFileSync(join(base, "broken.mjs"), "throw new Error('broken on import');");
  const from = (...modules: string[]) => createTargets({}, { modules, base });
  const make = (name: string, ...modules: string[]) =>
    instantiateAsync({ _target_: name, n: 1 } as unknown, { targets: from(...modules) });

  it("are allowed one by one, by directory, or not at all", async () => {
    await expect(make("./models.mjs:Neet", "./models.mjs")).resolves.toMatchObject({ o: { n: 1 } });
    await expect(make("./models.mjs:Neet.of", "./")).resolves.toMatchObject({ o: { n: 1 } });
    await expect(make("./x/../models.mjs:Neet", "./models.mjs")).resolves.toBeDefined();
    await expect(make("node:path:join", "node:path")).rejects.toThrow(/Error in call to target/);
    for (const [name, allowed] of [
      ["./models.mjs:Neet", "./other.mjs"],
      ["../models.mjs:Neet", "./"],
      ["./sub/../../models.mjs:Neet", "./"],
      [`${base}x/models.mjs:Neet`, "./"],
      ["node:child_process:execSync", "node:path"],
      ["pkg/../node:fs:rmSync", "pkg/"],
      ["data:text/javascript,export const f = 1:f", "./"],
    ] as const)
      await expect(make(name, allowed), name).rejects.toMatchObject({
        code: "instantiate.target",
        message: `Error locating target '${name}': its module is not allowed`,
      });
    await expect(make("./models.mjs:Neet")).rejects.toThrow(/not allowed/);
  });

  it("are not imported for a name that the program has registered itself", async () => {
    const targets = createTargets({ "./gone.mjs:f": () => "ours" }, { modules: ["./"], base });
    await expect(instantiateAsync({ _target_: "./gone.mjs:f" }, { targets })).resolves.toBe("ours");
  });

  it("are handed over as they are where the program names one among the arguments", async () => {
    const module: unknown = await import(join(base, "models.mjs"));
    const targets = createTargets({ same: ({ of }: { of: unknown }) => of });
    const made = instantiate({ _target_: "same" }, { targets, overrides: { of: module } });
    expect(made === module).toBe(true);
  });

  it("name what is wrong with them", async () => {
    await expect(make("./models.mjs:Nete", "./")).rejects.toMatchObject({
      details: { nearest: "./models.mjs:Neet", available: ["Neet"] },
    });
    await expect(make("./models.mjs:size", "./")).rejects.toThrow(/Expected a callable target/);
    await expect(make("./absent.mjs:f", "./")).rejects.toThrow(/Error locating target/);
    await expect(make("./broken.mjs:f", "./")).rejects.toThrow(/broken on import/);
  });

  it("must have been loaded for instantiate, which does not wait", async () => {
    const own = from("./models.mjs");
    const config = { _target_: "./models.mjs:Neet" } as unknown;
    expect(refusal(() => instantiate(config, { targets: own })).hint).toMatch(/instantiateAsync/);
    await own.load("./models.mjs:Neet");
    expect(instantiate(config, { targets: own })).toBeDefined();
  });
});
