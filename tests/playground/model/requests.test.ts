import { expect, test } from "vitest";
import {
  type AnswerOf,
  createReplier,
  type FilesUpdate,
  type RequestName,
  type RequestOf,
  type ViewRequest,
} from "../../../src/playground/model/requests.ts";
import { SAMPLE, treeOf } from "../sample.ts";

const { files: _, ...TREE } = treeOf({});
const update = (texts: Readonly<Record<string, string>>, ...removed: string[]): FilesUpdate => ({
  tree: TREE,
  changed: Object.entries(texts),
  removed,
});

/** Asks as the page does: what goes between it and the worker is copied. */
function open(texts = SAMPLE) {
  const replyTo = createReplier();
  let last = 0;
  let files: FilesUpdate | undefined = update(texts);
  return {
    change(next: FilesUpdate) {
      files = next;
    },
    ask<Name extends RequestName>(name: Name, request: RequestOf<Name>): AnswerOf<Name> {
      last += 1;
      const message = structuredClone({ id: last, name, request, files });
      files = undefined;
      const reply = structuredClone(replyTo(message));
      expect(reply.id).toBe(last);
      if ("failure" in reply) throw new Error(reply.failure);
      return reply.answer as AnswerOf<Name>;
    },
  };
}

const looking = (overrides: readonly string[], more: Partial<ViewRequest> = {}): ViewRequest => ({
  call: { configName: "config", overrides },
  resolve: false,
  compared: undefined,
  defaults: undefined,
  ...more,
});

const texts = ({ config }: AnswerOf<"view">) => config?.lines.map(({ text }) => text);

test("a view has what is looked at, and nothing else", () => {
  const { ask } = open();
  const view = ask("view", looking(["db=pg"]));
  expect(texts(view)).toContain("  port: 5432");
  expect(view.problems).toEqual([]);
  expect(view.menus.find(({ key }) => key === "db")?.chosen).toBe("pg");
  expect([view.difference, view.config?.rows]).toEqual([undefined, undefined]);
  const all = ask(
    "view",
    looking(["db=pg"], { compared: [], defaults: { withHydra: false }, resolve: true }),
  );
  expect(texts(all)).toContain("name: pg-x");
  expect(all.config?.rows?.map(({ label }) => label)).toContain("db: pg");
  expect(all.difference).toMatchObject({ kind: "compared" });
  const wrong = ask("view", looking([], { compared: ["db=no"] }));
  expect(wrong.difference).toMatchObject({ kind: "failed" });
  expect(wrong.problems).toEqual([]);
});

test("of a mistake the view has the last config that could be composed", () => {
  const { ask } = open();
  const good = ask("view", looking(["db=pg"]));
  expect(good.config?.source).toEqual({ kind: "line" });
  const failed = ask("view", looking(["db=pq"]));
  expect(failed.problems).toMatchObject([{ nearest: "pg" }]);
  expect(failed.config).toEqual({ ...good.config, source: { kind: "earlier" } });
  expect(failed.menus).toEqual(good.menus);
});

test("of a line that was wrong from the first the view has the config without what is wrong", () => {
  const { ask } = open();
  const failed = ask("view", looking(["db=pg", "no.such=1", "debug=true", "extra=more"]));
  expect(failed.problems).not.toEqual([]);
  const overrides = ["no.such=1", "extra=more"];
  expect(failed.config?.source).toEqual({ kind: "without", overrides });
  expect(texts(failed)).toEqual(texts(ask("view", looking(["db=pg", "debug=true"]))));
  // Of another primary config there is none before.
  const call = { configName: "db/pg", overrides: ["no.such=1"] };
  const other = ask("view", looking([], { call }));
  expect(other.config?.source).toEqual({ kind: "without", overrides: ["no.such=1"] });
});

test("a primary config that composes with nothing leaves the groups", () => {
  const { ask, change } = open({ ...SAMPLE, "config.yaml": "a: [1\n" });
  const broken = ask("view", looking(["db=pg"]));
  expect(broken.problems).toMatchObject([{ place: { path: "config.yaml" } }]);
  expect(broken.config).toBeUndefined();
  expect(broken.menus.map(({ key }) => key)).toEqual(["cache", "db", "extra"]);
  change(update({ "config.yaml": "a: 1\n" }));
  expect(texts(ask("view", looking([])))).toEqual(["a: 1"]);
});

test("of a sweep the view has the first config, and the jobs as far as they can be listed", () => {
  const { ask } = open();
  const sweep = ask("view", looking(["db=pg,mysql"]));
  expect(sweep.config?.source).toEqual({
    kind: "sweep",
    count: 2,
    first: [["db=pg"], ["db=mysql"]],
  });
  expect(sweep.menus.find(({ key }) => key === "db")?.chosen).toBe("pg");
  const large = ask("view", looking(["+x=range(0,1000)"])).config?.source;
  expect(large).toMatchObject({ count: 1000 });
  expect(large?.kind === "sweep" ? large.first.length : 0).toBe(200);
});

test("where nothing composes, what is wrong in files stands beside what is wrong in the line", () => {
  const { ask, change } = open();
  expect(ask("view", looking(["db=pq"])).problems).toMatchObject([{ nearest: "pg" }]);
  change(update({ "db/mysql.yaml": "a: [1\n" }));
  const both = ask("view", looking(["db=pq"]));
  expect([both.config, both.problems.length]).toEqual([undefined, 2]);
  expect(both.problems[1]?.place).toMatchObject({ kind: "file" });
  expect(ask("view", looking(["name=x"])).problems).toHaveLength(1);
});

test("a line that sweeps is told, also where its jobs cannot be shown", () => {
  const { ask } = open();
  const isSweep = (...overrides: readonly string[]) => ask("view", looking(overrides)).isSweep;
  expect(isSweep("db=pg,mysql")).toBe(true);
  expect(isSweep("hydra/sweeper=random", "db=pg,mysql")).toBe(true);
  expect(isSweep("db=pg,mysql", "db=no,nor")).toBe(true);
  expect(isSweep("hydra/sweeper=random", "db=pg")).toBe(false);
  expect(isSweep("db=pg", "=")).toBe(false);
});

test("a change is composed with the files before it, and what was removed is gone", () => {
  const { ask, change } = open();
  ask("view", looking([]));
  change(update({ "db/mysql.yaml": "port: 7\n", "db/new.yaml": "port: 8\n" }, "db/pg.yaml"));
  expect(texts(ask("view", looking([])))).toContain("  port: 7");
  expect(texts(ask("view", looking(["db=new"])))).toContain("  port: 8");
  expect(ask("view", looking(["db=pg"])).problems).toMatchObject([{ available: ["mysql", "new"] }]);
});

test("the history is that of the config that is shown, or none", () => {
  const { ask } = open();
  const older = ask("view", looking([])).config?.number ?? -1;
  const number = ask("view", looking(["db=pg"])).config?.number ?? -1;
  expect(ask("history", { number, key: "db.port" })?.value).toBe("5432");
  expect(ask("history", { number: older, key: "db.port" })).toBeUndefined();
});

test("words are completed, and options chosen", () => {
  const { ask } = open();
  const configName = "config";
  const found = ask("complete", { configName, word: "db=p", preceding: [] });
  expect(found.map(({ text }) => text)).toEqual(["db=pg"]);
  expect(ask("choose", { configName, line: "debug=true", key: "db", option: "pg" })).toBe(
    "debug=true db=pg",
  );
});

test("an error of this program is an answer, and the next request has its own", () => {
  const replyTo = createReplier();
  const request = looking([]);
  expect(replyTo({ id: 1, name: "view", request, files: undefined })).toEqual({
    id: 1,
    failure: "the first message has no files",
  });
  expect(replyTo({ id: 2, name: "view", request, files: update(SAMPLE) })).toHaveProperty("answer");
});
