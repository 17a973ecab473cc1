import { describe, expect, it } from "vitest";
import { composeFiles, refusal } from "../in-memory.ts";

const chosen = (config: string, env: Readonly<Record<string, string>> = {}) =>
  composeFiles({ "db/pg": "port: 2", config }, [], { env }).composition.choices.get("db");

describe("a defaults list that an interpolation gives", () => {
  it("stands elsewhere in the file", () => {
    expect(chosen("defaults: ${lists.small}\nlists: {small: [db: pg, _self_]}")).toBe("pg");
  });

  it("or comes from the environment, where a resolver makes it part of a config", () => {
    expect(chosen("defaults: ${oc.create:${oc.env:LIST}}", { LIST: "[db: pg]" })).toBe("pg");
  });

  it.each([
    { gives: "${oc.decode:'[{db:pg}]'}", type: "list" },
    { gives: "${oc.env:LIST}", type: "str" },
    { gives: "${oc.env:NOPE,null}", type: "NoneType" },
  ])("$gives: is none, being a $type", ({ gives, type }) => {
    const { code, message } = refusal(() => chosen(`defaults: ${gives}`, { LIST: "db" }));
    expect(code).toBe("compose.invalid_defaults");
    expect(message).toBe(
      `Invalid defaults list in 'config', defaults must be a list (got ${type})`,
    );
  });
});
