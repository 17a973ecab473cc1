import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, test } from "vitest";
import { createTargets } from "../../../src/engine/instantiate/module-targets.ts";
import { instantiate, instantiateAsync } from "../../../src/index.ts";
import { Child, refusal, Thing, targets, User, yaml } from "./library.ts";

describe("targets", () => {
  test("a class is constructed with all named arguments as one object", () => {
    const thing = yaml("{_target_: lib.Thing, a: 1, b: [2.5, x]}");
    expect(thing).toBeInstanceOf(Thing);
    expect((thing as Thing).args).toEqual([{ a: 1, b: [2.5, "x"] }]);
  });

  test("positional arguments come first, and alone where there are no named ones", () => {
    expect(yaml("{_target_: echo, _args_: [1, 2]}")).toEqual([1, 2]);
    expect(yaml("{_target_: echo, _args_: [1, 2], a: 3}")).toEqual([1, 2, { a: 3 }]);
    expect(yaml("_target_: echo")).toEqual([]);
    expect(yaml("{_target_: max, _args_: [1, 7, 3]}")).toBe(7);
  });

  test("declared parameters get named arguments by position", () => {
    expect(yaml("{_target_: User, age: 7, name: Bond}")).toEqual(new User("Bond", 7));
    expect(yaml("{_target_: User, _args_: [Bond], age: 7}")).toEqual(new User("Bond", 7));
  });

  test.each([
    ["{_target_: User, nmae: Bond}", /unexpected keyword argument 'nmae'/],
    ["{_target_: User, _args_: [a], name: b}", /multiple values for argument 'name'/],
    ["{_target_: User, _args_: [a, 1, 2]}", /takes 2 positional arguments but 3 were given/],
  ])("%s is refused as Python refuses it", (text, message) => {
    expect(refusal(() => yaml(text))).toMatchObject({
      code: "instantiate.failed",
      message: expect.stringMatching(message),
    });
  });

  test("static methods are called on their class, inherited ones on the class that was named", () => {
    expect(yaml("{_target_: lib.Thing.from, a: 1}")).toEqual(new Thing("from", { a: 1 }));
    expect(yaml("_target_: Child.from")).toBeInstanceOf(Child);
  });

  test("members of a namespace, and built-in classes and conversions", () => {
    expect(yaml("{_target_: math.half, x: 3}")).toBe(1.5);
    expect(yaml("{_target_: Map, _args_: [[[a, 1]]]}")).toEqual(new Map([["a", 1]]));
    expect(yaml("{_target_: Number, _args_: ['5']}")).toBe(5);
  });

  test.each(["Child.constructor", "echo.constructor", "echo.call", "Child.prototype.constructor"])(
    "%s is nothing that a config may reach",
    (name) => {
      expect(refusal(() => yaml(`_target_: ${name}`)).code).toBe("instantiate.target");
    },
  );

  test("an unknown name is told with the key, the place and the nearest name", () => {
    const details = refusal(() => yaml("model:\n  layers:\n    - _target_: lib.Thnig"));
    expect(details).toMatchObject({
      code: "instantiate.target",
      message: "Error locating target 'lib.Thnig': there is no target of this name",
      key: "model.layers[0]",
      nearest: "lib.Thing",
      available: expect.arrayContaining(["lib.Thing", "User"]),
      origin: { kind: "file" },
    });
    expect(refusal(() => yaml("_target_: other.pkg.Thing")).nearest).toBe("lib.Thing");
  });

  test("an unknown member of an object that is registered is told with the members", () => {
    const targets = createTargets({
      Net: class {},
      Math,
      optim: { Adam: class {}, size: 1, lr: { Cosine: class {} } },
    });
    const of = (name: string) => refusal(() => instantiate({ _target_: name }, { targets }));
    expect(of("optim.Adm")).toMatchObject({
      nearest: "optim.Adam",
      available: expect.arrayContaining(["Net", "optim.Adam", "optim.lr.Cosine", "Math.max"]),
    });
    expect(of("optim.lr.Cosin").nearest).toBe("optim.lr.Cosine");
    expect(of("torch.optim.Adam").nearest).toBe("optim.Adam");
    expect(of("Nett").nearest).toBe("Net");
    expect(of("optim.siz").available).not.toContain("optim.size");
  });

  test.each([
    ["{a: {_target_: math.constants}}", "instantiate.target", "a"],
    ["{a: {_target_: null}}", "instantiate.target", "a"],
    ["{a: {_target_: 12}}", "instantiate.target", "a"],
    ["a:\n  _target_: ???", "value.missing", "a._target_"],
    ["{a: {_target_: echo, _args_: text}}", "instantiate.invalid", "a._args_"],
    ["{a: {_target_: echo, _recursive_: maybe}}", "instantiate.invalid", "a._recursive_"],
    ["{a: {_target_: echo, _partial_: 1}}", "instantiate.invalid", "a._partial_"],
    ["{a: {_target_: echo, _convert_: al}}", "instantiate.invalid", "a._convert_"],
    ["a:\n  _target_: echo\n  x:\n    y: ???", "value.missing", "a.x.y"],
    ["a:\n  - 1\n  - ???", "value.missing", "a[1]"],
    ["{a: {_target_: fail}}", "instantiate.failed", "a"],
  ])("%s fails with %s at %s", (text, code, key) => {
    expect(refusal(() => yaml(text))).toMatchObject({ code, key });
  });

  test("what a target throws is the cause, and named in the message", () => {
    const details = refusal(() => yaml("_target_: fail"));
    expect(details.message).toBe("Error in call to target 'fail': RangeError: too far");
    expect(details.cause).toBeInstanceOf(RangeError);
  });

  test("getClass and getMethod", () => {
    expect(targets.getClass("lib.Thing")).toBe(Thing);
    expect(targets.getMethod("max")).toBe(Math.max);
    expect(refusal(() => targets.getClass("max")).message).toMatch(/Located non-class/);
  });
});

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
