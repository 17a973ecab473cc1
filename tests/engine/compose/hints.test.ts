import { describe, expect, it } from "vitest";
import { deletedBy } from "../../../src/engine/compose/schemas.ts";
import { parseOverrides } from "../../../src/engine/overrides/index.ts";
import { DIALECTS } from "../../../src/engine/values/dialect.ts";
import { createResolveContext } from "../../../src/engine/values/resolution/context.ts";
import { readYaml } from "../../../src/engine/values/yaml/reader.ts";
import { pairs, plain } from "../values/yaml/plain-values.ts";
import { composeFiles, composeOn, refusal, snapshotOf } from "./in-memory.ts";

const FILES = {
  config:
    "defaults:\n- profiling/ncu@pipeline.ncu: ncu.default\n- model/arch: small\n- _self_\nlr: 1\n",
  "profiling/ncu/ncu.default": "a: 1\n",
  "profiling/ncu/ncu.hopper": "a: 2\n",
  "model/arch/small": "depth: 1\n",
  "model/arch/large": "depth: 9\n",
};

const hintOf = (...overrides: readonly string[]): string | undefined =>
  refusal(() => composeFiles(FILES, overrides)).details.hint;

describe("an interpolation to a key that is not there", () => {
  const detailsOf = (text: string, more = "") =>
    refusal(() =>
      composeFiles({ config: `db: {host: h, port: 1, url: "${text}"}\n${more}` }).get("db.url"),
    ).details;

  it("names the keys beside it, and the nearest", () => {
    expect(detailsOf("${db.hots}")).toMatchObject({
      nearest: "db.host",
      available: ["db.host", "db.port", "db.url"],
    });
    expect(detailsOf("${.prot}")).toMatchObject({
      nearest: ".port",
      available: [".host", ".port", ".url"],
    });
    expect(detailsOf("${nope.x}").available).toEqual(["db"]);
    expect(detailsOf("${db.host.x.y}").available).toBeUndefined();
  });

  it("does not search very wide maps", () => {
    const wide = Array.from({ length: 300 }, (_, index) => `k${index}: 1\n`).join("");
    expect(detailsOf("${k_1}", wide)).not.toHaveProperty("nearest");
  });
});

describe("an override of an integer key, which no key path finds before Hydra 1.4", () => {
  const INTEGER = { config: "m: {10: a, x: 1}\n" };
  const detailsOf = (override: string) => refusal(() => composeFiles(INTEGER, [override])).details;

  it("proposes the map, which changes the key that is there", () => {
    const [, proposed = ""] = /^use (\S+): /.exec(detailsOf("m.10=b").hint ?? "") ?? [];
    expect(proposed).toBe("m={10:b}");
    expect(composeFiles(INTEGER, [proposed]).toYaml()).toBe("m:\n  10: b\n  x: 1\n");
  });

  it("does not propose the deletion that has failed", () => {
    expect(detailsOf("~m.10")).toMatchObject({
      hint: expect.stringMatching(/^the key 10 is an integer/),
    });
    expect(detailsOf("~m.10").nearest).toBeUndefined();
  });
});

describe("an interpolation with more dots than levels", () => {
  it("is written without them where the key counts from the root", () => {
    const text = (url: string) => `db: {url: "${url}"}\nn: {m: 1}\n`;
    const hint = (url: string) =>
      refusal(() => composeFiles({ config: text(url) }).get("db.url")).details.hint;
    expect(hint("${....n.m}")).toBe("write ${n.m}, which counts from the root");
    expect(composeFiles({ config: text("${n.m}") }).get("db.url")).toBe(1);
    expect(hint("${....nope}")).toBeUndefined();
  });
});

describe("what YAML reads as something else", () => {
  const versions = [DIALECTS["1.3"], DIALECTS["1.4"]];
  it.each([
    ["x: {{ y }}", "{{ y }}"],
    ["x: {{y}}  # a template", "{{y}}"],
    ["x: 'it's'", "it's"],
    ["x: 'a 'b' c'", "a 'b' c"],
  ])("%s: the text is named that gives what was meant", (text, meant) => {
    for (const dialect of versions) {
      const { hint = "" } = refusal(() => readYaml(text, { dialect })).details;
      const written = /: ('.*')$/.exec(hint.split("; an")[0] ?? "")?.[1] ?? "";
      expect(plain(readYaml(`x: ${written}`, { dialect }))).toEqual(pairs(["x", meant]));
    }
  });

  it.each(["x: {{y: 1}: 2}", "x: 'a' b", 'x: "it"s"', "x: 'a'\n  'b'\ny"])(
    "%j gets no such hint",
    (text) => {
      for (const dialect of versions) {
        const { hint = "" } = refusal(() => readYaml(text, { dialect })).details;
        expect(hint).not.toMatch(/needs quotes|write a quote twice/);
      }
    },
  );
});

describe("a group named by its last part", () => {
  it.each([
    ["ncu=ncu.hopper", "profiling/ncu@pipeline.ncu=ncu.hopper"],
    ["ncu=hopper", "profiling/ncu@pipeline.ncu=ncu.hopper"],
    ["pipeline/ncu=ncu.hopper", "profiling/ncu@pipeline.ncu=ncu.hopper"],
    ["profiling.ncu=ncu.hopper", "profiling/ncu@pipeline.ncu=ncu.hopper"],
    ["ncu@pipeline.ncu=ncu.hopper", "profiling/ncu@pipeline.ncu=ncu.hopper"],
    ["arch=large", "model/arch=large"],
  ])("%s: the command line that works is named", (override, works) => {
    const hint = hintOf(override) ?? "";
    expect(hint).toBe(`to choose an option, use ${works}`);
    const config = composeFiles(FILES, [works]);
    expect([config.get("pipeline.ncu.a"), config.get("model.arch.depth")]).not.toEqual([1, 1]);
  });

  it("is not suggested for what is no option there", () => {
    expect(hintOf("arch=7")).toBe("use +arch=7 to add the key");
    expect(hintOf("else=large")).toBe("use +else=large to add the key");
    expect(hintOf("arch={a: 1}")).toBe("use +arch={a: 1} to add the key");
    expect(hintOf("arch=entirely_other")).toBe("use +arch=entirely_other to add the key");
  });

  it("is not suggested where the key is there, and something else is wrong", () => {
    const files = { ...FILES, config: `${FILES.config}arch: small\n` };
    const error = refusal(() => composeFiles(files, ["+arch=large"]));
    expect(error.details.hint).toBe("use arch=large");
  });

  it("is suggested with the option quoted as it was typed", () => {
    const files = { ...FILES, "model/arch/very large": "depth: 99\n" };
    const { hint = "" } = refusal(() => composeFiles(files, ["arch='very large'"])).details;
    expect(hint).toBe("to choose an option, use model/arch='very large'");
    expect(composeFiles(files, ["model/arch='very large'"]).get("model.arch.depth")).toBe(99);
  });

  it("is suggested at the package where it stands", () => {
    expect(hintOf("profiling/ncu=ncu.hopper")).toContain("profiling/ncu@pipeline.ncu=ncu.hopper");
  });
});

describe("a hint about a job of a sweep", () => {
  const TREE = {
    config: "defaults:\n- db: pg\n- db@backup: pg\n- _self_\nlr: 1\nlayers: [1]\nopt: {lr: 1}\n",
    "db/pg": "a: 1\n",
    "db/mysql": "a: 2\n",
  };
  const ofJob = (job: string, sweep: string) => {
    const context = createResolveContext({ env: {} });
    return refusal(() => composeOn(snapshotOf(TREE), [job], context, { sweep: [sweep] })).details;
  };

  it.each([
    ["lrr=1", "lrr=choice(1,2)", "use lr=choice(1,2), or +lrr=choice(1,2) to add the key"],
    ["lrr=2", "lrr=range(1,4)", "use lr=range(1,4), or +lrr=range(1,4) to add the key"],
    ["+layers=5", "+layers=5,6", "a list is replaced as a whole: layers=[1,5],[1,6]"],
    ["layers.1=5", "layers.1=5,6", "a list is replaced as a whole: layers=[1,5],[1,6]"],
    ["db=pgg", "db=pgg,mysql", "use db=pg,mysql"],
    ["db=pgg", "db=choice(pgg,mysql)", "use db=pg,mysql"],
    ["dbb=pg", "dbb=pg,mysql", "to choose an option, use db=pg,mysql"],
    ["dbb=pgg", "dbb=pgg,mysql", "use +dbb=pgg,mysql to add the key"],
    ["db@bakup=pg", "db@bakup=pg,mysql", "use db@backup=pg,mysql, or +db@bakup=pg,mysql"],
  ])("%s of %s names the sweep", (job, sweep, hint) => {
    expect(ofJob(job, sweep).hint).toBe(hint);
  });

  it("corrects the keys of every dict", () => {
    expect(ofJob("opt={lrr:1}", "opt={lrr:1},{lrr:2}").hint).toMatch(
      /^use opt=\{lr:1\},\{lr:2\}, or/,
    );
  });
});

it("an unknown package of a group in the list means the nearest one", () => {
  const files = { config: "defaults:\n- db: pg\n- db@backup: pg\n", "db/pg": "", "db/my": "" };
  const { hint, nearest } = refusal(() => composeFiles(files, ["db@bakup=my"])).details;
  expect([nearest, hint]).toEqual(["db@backup", "use db@backup=my, or +db@bakup=my"]);
});

describe("hints that would be refused in their turn", () => {
  it("do not send Hydra's own configuration into a sweep", () => {
    expect(hintOf("hydra.job.name=a,b")).toContain("cannot be swept over");
    expect(hintOf("lr=1,2")).not.toContain("--multirun");
  });

  it("do not quote the name of an option where there is no key", () => {
    expect(hintOf("=3")).toBe("nothing precedes the '=': write KEY=VALUE or GROUP=OPTION");
  });
});

it("refuses groups before values, and values in their order, as Hydra does", () => {
  const key = (...overrides: readonly string[]) =>
    refusal(() => composeFiles(FILES, overrides)).details.key;
  expect(key("k=[1,2]", "h/t=b", "profiling/ncu=ncu.hopper")).toBe("profiling/ncu");
  expect(key("k=[1,2]", "h/t=b", "g=a")).toBe("k");
});

it("knows which override took a key out", () => {
  const overrides = parseOverrides(["~db.port", "lr=2", "~runner", "~a/b@c.d", "~e/f"]);
  const by = (key: string) => deletedBy(key, overrides)?.text;
  expect(by("db.port")).toBe("~db.port");
  expect(by("runner.mode")).toBe("~runner");
  expect(by("c.d.x")).toBe("~a/b@c.d");
  expect(by("e.f.x")).toBe("~e/f");
  expect([by("db"), by("lr"), by("db.portal")]).toEqual([undefined, undefined, undefined]);
});
