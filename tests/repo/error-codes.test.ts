import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { APP_ERRORS } from "../../src/app/job/error-codes.ts";
import { ENGINE_ERRORS } from "../../src/engine/values/error-codes.ts";
import { PROFILER_ERRORS, TOOL_ERRORS } from "../../src/profiler/model/error-codes.ts";
import { REPORT_ERRORS } from "../../src/report/model/error-codes.ts";
import { listFiles } from "./files.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

type Codes = Readonly<Record<string, string>>;

/** The codes of each wing that has any. */
const CODES: Readonly<Record<string, Codes>> = {
  engine: ENGINE_ERRORS,
  app: APP_ERRORS,
  report: REPORT_ERRORS,
  profiler: { ...PROFILER_ERRORS, ...TOOL_ERRORS },
};

/** The wings whose codes a wing may raise. */
const RAISES: Readonly<Record<string, readonly string[]>> = {
  engine: ["engine"],
  app: ["engine", "app"],
  python: ["engine", "app"],
  playground: ["engine", "app"],
  report: ["engine", "report"],
  profiler: ["engine", "report", "profiler"],
};

/** The codes that the source of a wing names, each with its first file. */
function namedIn(wing: string): ReadonlyMap<string, string> {
  const all = new Set(Object.values(CODES).flatMap((codes) => Object.keys(codes)));
  const named = new Map<string, string>();
  for (const file of listFiles(join(root, "src", wing), ".ts")) {
    if (file.endsWith("/error-codes.ts")) continue;
    const text = readFileSync(file, "utf8");
    const literals = [...text.matchAll(/"([a-z]+\.[a-z_]+)"/g)].map(([, name = ""]) => name);
    const given = [...text.matchAll(/\bcode: "([^"/]+\.[^"/]+)"/g)].map(([, name = ""]) => name);
    for (const code of [...literals.filter((one) => all.has(one)), ...given])
      if (!named.has(code)) named.set(code, relative(root, file));
  }
  return named;
}

describe("error codes", () => {
  it("are of one wing each", () => {
    const all = Object.values(CODES).flatMap((codes) => Object.keys(codes));
    expect(all.filter((code, at) => all.indexOf(code) !== at)).toEqual([]);
  });

  it.each(Object.entries(RAISES))(
    "of src/%s are its own, or those of wings below",
    (wing, below) => {
      const known = new Set(below.flatMap((one) => Object.keys(CODES[one] ?? {})));
      expect([...namedIn(wing)].filter(([code]) => !known.has(code))).toEqual([]);
    },
  );

  it.each(Object.entries(CODES))("of src/%s are all raised", (wing, codes) => {
    const raisers = Object.keys(RAISES).filter((one) => RAISES[one]?.includes(wing));
    const named = new Set(raisers.flatMap((one) => [...namedIn(one).keys()]));
    expect(Object.keys(codes).filter((code) => !named.has(code))).toEqual([]);
  });

  it("that the engine lists and does not raise itself are raised by several wings", () => {
    const wings = ["app", "report", "profiler"].map(namedIn);
    const shared = Object.keys(ENGINE_ERRORS).filter((code) => !namedIn("engine").has(code));
    expect(shared.filter((code) => wings.filter((named) => named.has(code)).length < 2)).toEqual(
      [],
    );
  });

  it("are the tables of docs/errors.md", () => {
    const page = readFileSync(join(root, "docs", "errors.md"), "utf8");
    const listed = [...page.matchAll(/^\| `([a-z]+\.[a-z_]+)` \| (.*) \|$/gm)].map(
      ([, code, meaning]) => [code, meaning],
    );
    expect(listed).toEqual(Object.values(CODES).flatMap((codes) => Object.entries(codes)));
  });
});
