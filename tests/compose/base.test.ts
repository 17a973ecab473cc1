import { describe, expect, it } from "vitest";
import { createResolveContext } from "../../src/values/interpolation/context.ts";
import { composeOn, refusal, snapshotOf } from "./in-memory.ts";

const snapshot = snapshotOf({
  config: "defaults: [db: a, net: lan, _self_]\nx: 1",
  asking: "defaults: [db: '${oc.env:DB}', _self_]\nx: 1",
  "db/a": "n: 1",
  "db/b": "n: 2",
  "net/lan": "",
  "net/wan": "",
});

describe("compositions of one snapshot", () => {
  it("share what only depends on files and groups", () => {
    const context = createResolveContext();
    const [one, other] = [
      composeOn(snapshot, ["x=1"], context),
      composeOn(snapshot, ["x=2"], context),
    ];
    expect(other.defaults).toBe(one.defaults);
    expect(other.config.entries.get("db")).toBe(one.config.entries.get("db"));
    expect(other.config.entries.get("x")).not.toBe(one.config.entries.get("x"));
  });

  it("share it as long as it is in use: a sweep over groups keeps the latest of them", () => {
    const context = createResolveContext();
    const defaultsOf = (job: number) => composeOn(snapshot, [`+net@p${job}=lan`], context).defaults;
    const first = defaultsOf(0);
    const later = Array.from({ length: 100 }, (_, job) => defaultsOf(job + 1));
    expect(defaultsOf(100)).toBe(later.at(-1));
    expect(defaultsOf(60)).toBe(later[59]);
    expect(defaultsOf(0)).not.toBe(first);
    expect(defaultsOf(0)).toStrictEqual(first);
  });

  it("do not share it where groups or their place on the command line differ", () => {
    const context = createResolveContext();
    const base = composeOn(snapshot, ["net=wan"], context);
    expect(composeOn(snapshot, ["net=lan"], context).choices.get("net")).toBe("lan");
    const later = composeOn(snapshot, ["x=1", "net=wan"], context);
    const origins = [base, later].map(
      ({ defaults }) => defaults.find(({ overrideKey }) => overrideKey === "net")?.origin,
    );
    expect(origins).toMatchObject([
      { text: "net=wan", index: 0 },
      { text: "net=wan", index: 1 },
    ]);
  });

  it("do not share it where one may leave groups open and the other may not", () => {
    const open = snapshotOf({ config: "defaults: [db: '???']", "db/a": "" });
    const context = createResolveContext();
    const { choices } = composeOn(open, [], context, { mode: "multirun" });
    expect(choices.get("db")).toBe("???");
    expect(refusal(() => composeOn(open, [], context)).code).toBe("compose.missing_option");
  });

  it("do not share it where a resolver was asked, who may say something else", () => {
    const env: Record<string, string> = {};
    const context = createResolveContext({ env });
    const chosen = ["a", "b"].map((DB) => {
      env["DB"] = DB;
      return composeOn(snapshot, [], context, { configName: "asking" }).choices.get("db");
    });
    expect(chosen).toEqual(["a", "b"]);
  });
});
