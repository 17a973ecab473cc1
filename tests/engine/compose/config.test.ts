import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { toObject } from "../../../src/engine/values/plain-objects.ts";
import { renderError } from "../../../src/engine/values/render-error.ts";
import { createEngine } from "../../../src/engine.ts";
import { composeFiles, refusal } from "./in-memory.ts";

const config = composeFiles({
  config:
    "a: {b: 1, c: '${a.b}', open: '???'}\nl: [x, '${a}']\nbroken: ${nope}\nbig: 12345678901234567890\nf: 1.0\n",
});

describe("a composed config", () => {
  it("resolves on access, and only what is asked for", () => {
    expect(config.get("a.c")).toBe(1);
    expect(config.get("l[0]")).toBe("x");
    expect(config.get("l.1.b")).toBe(1);
    expect(config.get("nope")).toBeUndefined();
    expect(refusal(() => config.get("broken")).code).toBe("interpolation.not_found");
  });

  it("refuses a key that is not there where it is required, with the nearest key and its place", () => {
    const server = composeFiles({
      config: "server: {host: h,\n  port: 1, user: null}\nalias: ${server}\nl: [1]\n",
    });
    const refused = (key: string) => refusal(() => server.get(key, { required: true }));
    const { code, message, details } = refused("server.prot");
    expect({ code, message }).toEqual({
      code: "key.not_found",
      message: "Key 'server.prot' is not in the config",
    });
    expect(details).toMatchObject({
      key: "server.prot",
      nearest: "server.port",
      available: ["server.host", "server.port", "server.user"],
      hint: "'server.port' is set in file:///conf/config.yaml:2:9",
    });
    expect(refused("alias.prot").details).toMatchObject({
      nearest: "alias.port",
      hint: "'alias.port' is set in file:///conf/config.yaml:2:9",
    });
    expect(refused("port").details).toMatchObject({
      nearest: "server.port",
      hint: "'server.port' is set in file:///conf/config.yaml:2:9",
    });
    expect(refused("zzz").details.hint).toBeUndefined();
    for (const key of ["l[3]", "l.1"])
      expect(refused(key).details).toMatchObject({
        code: "key.not_found",
        hint: "'l' has 1 item, counted from 0 (file:///conf/config.yaml:4:4)",
      });
    expect(refused("alias.port.x").details).toMatchObject({
      code: "key.not_found",
      hint: "'alias.port' is 1, which has no keys (file:///conf/config.yaml:2:9)",
    });
    for (const resolve of [true, false, undefined])
      expect(
        refusal(() =>
          server.get("nope", { required: true, ...(resolve !== undefined && { resolve }) }),
        ).code,
      ).toBe("key.not_found");
    expect(server.get("server.port", { required: true })).toBe(1);
    expect(server.get("server.user", { required: true })).toBeNull();
    expect(server.get("nope", { required: false })).toBeUndefined();
  });

  it("never proposes the key that was asked for where a key of the same digits is an integer", () => {
    const ofMap = composeFiles({ config: "m: {10: a, 100: b}\nref: ${m.10}\n" });
    const refused = (key: string) => refusal(() => ofMap.get(key, { required: true })).details;
    for (const key of ["m.10", "ref"]) {
      expect(refused(key).nearest).toBeUndefined();
      expect(refused(key).hint).toMatch(/^the key 10 is an integer, .* from Hydra 1\.4 on/);
    }
    expect(refused("m.11").hint).toBeUndefined();
    expect(ofMap.get("m")).toEqual({ 10: "a", 100: "b" });
  });

  it("refuses a required key as the documentation shows it", () => {
    const cwd = mkdtempSync(join(tmpdir(), "required-"));
    mkdirSync(join(cwd, "conf"));
    writeFileSync(join(cwd, "conf/config.yaml"), "server:\n  host: localhost\n  port: 8080\n");
    const server = createEngine({ cwd }).compose({ configDir: "conf", configName: "config" });
    const error = refusal(() => server.get("server.prot", { required: true }));
    const page = readFileSync(new URL("../../../docs/programs.md", import.meta.url), "utf8");
    expect(page).toContain(`\`\`\`text\n${renderError(error)}\n\`\`\`\n`);
  });

  it("refuses a value that nobody has given", () => {
    const error = refusal(() => config.get("a.open"));
    expect(error.code).toBe("value.missing");
    expect(error.details.key).toBe("a.open");
  });

  it("prints itself unresolved or resolved", () => {
    const small = composeFiles({ config: "b: 1\na: ${b}\n" });
    expect(small.toYaml()).toBe("b: 1\na: ${b}\n");
    expect(small.toYaml({ resolve: true })).toBe("b: 1\na: 1\n");
    expect(small.toYaml({ sortKeys: true })).toBe("a: ${b}\nb: 1\n");
  });

  it("becomes JSON with bytes as base64, lists and null as they are", () => {
    const config = "b: !!binary AAEC\nl: [1, [null]]\nn: null\nf: [.inf, -.inf, .nan]";
    const { toJSON } = composeFiles({ config });
    const f = ["inf", "-inf", "nan"];
    expect(toJSON()).toEqual({ b: "AAEC", l: [1, [null]], n: null, f });
  });

  it("shows its values and nothing of what they were made with, printed or as JSON", () => {
    const own = createEngine({
      env: { TOKEN: "from-the-environment" },
      store: new Map([
        [
          "config",
          {
            value: {
              db: { password: "hunter2-hunter2", port: 1 },
              url: "${db.password}@h",
              token: "${oc.env:TOKEN}",
              big: 12345678901234567890n,
            },
            schema: {
              properties: { db: { properties: { password: { type: "string", writeOnly: true } } } },
            },
          },
        ],
      ]),
    }).compose({ configDir: null, configName: "config" });
    expect(JSON.parse(JSON.stringify(own))).toEqual({
      db: { password: "***", port: 1 },
      url: "${db.password}@h",
      token: "${oc.env:TOKEN}",
      big: "12345678901234567890",
    });
    const printed = inspect({ own }, { depth: Number.POSITIVE_INFINITY });
    expect(printed).toContain("password: '***', port: 1");
    for (const text of [printed, JSON.stringify({ ...own })])
      expect(text).not.toMatch(/hunter2|from-the-environment|origin/);
    expect(own.get("url")).toBe("hunter2-hunter2@h");
    expect(own.root.kind).toBe("map");
  });

  it("becomes plain data with exact integers, resolved where that is asked for", () => {
    expect(config.get("big")).toBe(12345678901234567890n);
    const small = composeFiles({ config: "b: 1\na: ${b}\n" });
    expect(small.toObject({ resolve: true })).toEqual({ b: 1, a: 1 });
    expect(small.toObject()).toEqual({ b: 1, a: 1 });
    expect(small.toObject({ resolve: false })).toEqual({ b: 1, a: "${b}" });
  });
});

describe("two configs", () => {
  const files = { config: "a: 1\nb: {c: 2}\n" };

  it("say what differs, with both origins", () => {
    const [difference, ...others] = composeFiles(files).diff(composeFiles(files, ["b.c=3"]));
    expect(others).toEqual([]);
    expect(difference).toMatchObject({
      kind: "changed",
      path: ["b", "c"],
      before: { value: 2n, origin: { kind: "file" } },
      after: { value: 3n, origin: { kind: "override", text: "b.c=3" } },
    });
  });

  it("say that a secret differs, is new or is gone, and not what it is", () => {
    const { compose } = createEngine({
      env: {},
      store: new Map([
        [
          "config",
          {
            value: { user: "me", password: "old-secret", keys: { a: "key-secret" } },
            schema: { properties: { password: { writeOnly: true }, keys: { writeOnly: true } } },
          },
        ],
      ]),
    });
    const [stored, other, none] = [
      [],
      ["password=new-secret", "user=you", "keys.a=other"],
      ["~password"],
    ].map((overrides) => compose({ configDir: null, configName: "config", overrides }));
    const shown = (before = stored, after = stored) =>
      before &&
      after &&
      before
        .diff(after)
        .map((difference) => [
          `${difference.kind} ${difference.path.join(".")}`,
          ...("before" in difference ? [toObject(difference.before)] : []),
          "->",
          ...("after" in difference ? [toObject(difference.after)] : []),
        ]);
    expect(shown(stored, other)).toEqual([
      ["changed user", "me", "->", "you"],
      ["changed password", "***", "->", "***"],
      ["changed keys.a", "***", "->", "***"],
    ]);
    expect(shown(stored, none)).toEqual([["removed password", "***", "->"]]);
    expect(shown(none, stored)).toEqual([["added password", "->", "***"]]);
  });

  it("list their values with the origin of each", () => {
    const origins = composeFiles(files, ["b.c=3"]).origins();
    expect(origins.map(({ path, node }) => [path.join("."), node.origin.kind])).toEqual([
      ["a", "file"],
      ["b.c", "override"],
    ]);
  });
});
