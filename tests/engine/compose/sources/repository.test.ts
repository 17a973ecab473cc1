import { describe, expect, it } from "vitest";
import type { ConfigSource } from "../../../../src/engine/compose/sources/config-source.ts";
import { openSource, takeSnapshot } from "../../../../src/engine/compose/sources/repository.ts";
import { toObject } from "../../../../src/engine/values/plain-objects.ts";
import { diskSources } from "../disk-sources.ts";
import { type Files, filesSource, refusal } from "../in-memory.ts";

/** A source that counts what it is asked. */
function counting(files: Files): ConfigSource & { readonly asked: string[] } {
  const source = filesSource(files);
  const asked: string[] = [];
  return {
    ...source,
    asked,
    load(path) {
      asked.push(path);
      return source.load(path);
    },
  };
}

const snapshotOf = (...sources: ConfigSource[]) =>
  takeSnapshot({
    sources,
    schemaSource: { ...filesSource({ "db/mysql": "schema: 1" }), scheme: "structured" },
    cwd: "/",
    factories: new Map([["mem", () => filesSource({ "db/mysql": "late: 1", "db/more": "" })]]),
  });

describe("a snapshot", () => {
  it("asks a source for every config once, also for those it lacks", () => {
    const source = counting({ config: "x: 1" });
    const { repository, extended } = snapshotOf(source);
    const extension = extended([{ provider: "p", path: "mem://a" }]);
    for (const path of ["config", "nope", "config", "nope"]) {
      repository.load(path);
      extension.load(path);
    }
    expect(source.asked).toEqual(["config", "nope"]);
  });

  it("lets the first source win and lists the options of all", () => {
    const { repository, extended } = snapshotOf(
      filesSource({ "db/pg": "" }),
      filesSource({ "db/pg": "second: 1", "db/mysql": "second: 1" }),
    );
    expect(repository.load("db/pg")?.node).toMatchObject({ entries: new Map() });
    expect(repository.list("db", "config")).toEqual(["mysql", "pg"]);
    const extension = extended([{ provider: "p", path: "mem://a" }]);
    expect(extension.list("db", "config")).toEqual(["more", "mysql", "pg"]);
    expect(extension.sources.at(-1)?.scheme).toBe("structured");
    expect(extended([{ provider: "p", path: "mem://a" }])).toBe(extension);
  });

  it("takes a defaults list that is missing for none", () => {
    const { repository } = snapshotOf(filesSource({ unset: "defaults: ???\nx: 1" }));
    const loaded = repository.load("unset");
    expect(loaded?.defaults).toEqual([]);
    expect(loaded && toObject(loaded.node)).toEqual({ x: 1 });
  });

  it("keeps no failure: the error comes again", () => {
    const { repository } = snapshotOf(filesSource({ bad: "defaults: 1" }));
    const message = "Invalid defaults list in 'bad', defaults must be a list (got int)";
    expect(refusal(() => repository.load("bad")).message).toBe(message);
    expect(refusal(() => repository.load("bad")).message).toBe(message);
  });
});

describe("an entry of the search path", () => {
  it("is a directory without a scheme", () => {
    const source = openSource({ provider: "p", path: "some/dir" }, "/", diskSources());
    expect([source.scheme, source.path]).toEqual(["file", "some/dir"]);
  });

  it("is refused with an unknown scheme", () => {
    const error = refusal(() => openSource({ provider: "p", path: "ftp://x" }, "/", diskSources()));
    expect(error.code).toBe("compose.invalid_config");
    expect(error.message).toBe(
      "No config source registered for schema ftp, supported types : [file, pkg, structured]",
    );
  });
});
