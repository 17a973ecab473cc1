import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import {
  asyncResolver,
  type ConfigChange,
  composeAsync,
  isConfigError,
  memorySource,
  type PlainValue,
  renderError,
  renderExplanation,
  toObject,
  type WatchedConfig,
  watchConfig,
} from "../src/index.ts";
import { dotenv, environment } from "../src/sources.ts";
import { until } from "./wait.ts";

const store = (text: string) => new Map([["config", { text }]]);

const errorOf = async (made: Promise<unknown>): Promise<string> => {
  try {
    await made;
  } catch (error) {
    if (isConfigError(error)) return renderError(error);
    throw error;
  }
  throw new Error("nothing was refused");
};

describe("composeAsync", () => {
  const text = [
    "user: ${vault:user}",
    "again: ${vault:user}",
    "password: ${vault:password/${user}}",
    "url: pg://${user}:${password}@h",
    "",
  ].join("\n");

  it("asks once for equal arguments, and in turn for what depends on an answer", async () => {
    const asked: string[] = [];
    const vault = asyncResolver("vault", async ([path]) => {
      asked.push(String(path));
      await Promise.resolve();
      return String(path) === "user" ? "ada" : `secret of ${path}`;
    });
    const config = await composeAsync({
      store: store(text),
      configName: "config",
      resolvers: [vault],
    });
    expect(config.toObject({ resolve: true })).toEqual({
      user: "ada",
      again: "ada",
      password: "secret of password/ada",
      url: "pg://ada:secret of password/ada@h",
    });
    expect(asked).toEqual(["user", "password/ada"]);
  });

  it("asks for what can be asked together before it waits for an answer", async () => {
    const waiting: (() => void)[] = [];
    const both = asyncResolver("both", async ([name]) => {
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 2) for (const answer of waiting) answer();
      });
      return name;
    });
    const config = await composeAsync({
      store: store("a: ${both:x}\nb: ${both:y}\n"),
      configName: "config",
      resolvers: [both],
    });
    expect(config.toObject({ resolve: true })).toEqual({ a: "x", b: "y" });
  });

  it("masks what a secret resolver takes part in", async () => {
    const vault = asyncResolver("vault", async () => "hunter22", { isSecret: true });
    const config = await composeAsync({
      store: store("a: ${vault:x}\nb: at ${a}\nc: 1\n"),
      configName: "config",
      resolvers: [vault],
    });
    expect(config.toYaml({ resolve: true })).toBe("a: '***'\nb: '***'\nc: 1\n");
    expect(config.get("b")).toBe("at hunter22");
  });

  it("masks what a schema made of a secret", async () => {
    const vault = asyncResolver("vault", async () => " hunter22\n", { isSecret: true });
    const config = await composeAsync({
      store: store(
        "db: {password: '${vault:x}', url: 'pg://${db.password}@h'}\nl: ['${vault:y}', b]\nm: '${vault:z}'\nk: ' c'\n",
      ),
      configName: "config",
      resolvers: [vault],
      schema: z.object({
        db: z.object({ password: z.string().trim(), url: z.string() }),
        l: z.array(z.string()).transform((items) => [...items, "c"]),
        m: z.string().transform((inner) => ({ inner })),
        k: z.string().trim(),
      }),
    });
    expect(config.get("db.password")).toBe("hunter22");
    const shown = config.explain("db.password");
    for (const text of [
      config.toYaml({ resolve: true }),
      config.toYaml(),
      JSON.stringify(config),
      shown === undefined ? "" : renderExplanation(shown),
    ])
      expect(text).not.toContain("hunter");
    expect(config.toYaml({ resolve: true })).toContain("k: c\n");
  });

  it("masks what a schema adds that has a secret in it", async () => {
    const vault = asyncResolver("vault", async () => " hunter 22", { isSecret: true });
    const config = await composeAsync({
      store: store("password: '${vault:x}'\n"),
      configName: "config",
      resolvers: [vault],
      schema: z
        .object({ password: z.string().trim(), timeout: z.number().default(5) })
        .transform((data) => ({
          ...data,
          url: `pg://u:${encodeURIComponent(data.password)}@h`,
          headers: [{ auth: `Basic ${btoa(`u:${data.password}`)}` }, { kind: "plain" }],
        })),
    });
    expect(config.get("url")).toBe("pg://u:hunter%2022@h");
    const shown = ["url", "headers.0.auth", "password"].map((key) => {
      const found = config.explain(key);
      return found === undefined ? "" : renderExplanation(found);
    });
    for (const text of [config.toYaml({ resolve: true }), JSON.stringify(config), ...shown])
      expect(text).not.toMatch(/hunter|aHVudGV|dTpodW50/);
    expect(shown).toHaveLength(3);
    expect(config.toYaml({ resolve: true })).toContain("timeout: 5\nurl: '***'\n");
    expect(config.toYaml()).toContain("- auth: '***'\n- kind: plain\n");
    const error = await errorOf(
      composeAsync({
        store: store("password: '${vault:x}'\n"),
        configName: "config",
        resolvers: [vault],
        schema: z
          .object({ password: z.string() })
          .transform((data) => ({ url: `pg://${data.password}@h` }))
          .pipe(z.object({ url: z.literal("pg://@h") })),
      }),
    );
    expect(error).not.toContain("hunter");
  });

  it("masks a secret whose key has a dot", async () => {
    const vault = asyncResolver("vault", async () => "hunter22", { isSecret: true });
    const config = await composeAsync({
      store: store("a.b: ${vault:x}\n"),
      configName: "config",
      resolvers: [vault],
    });
    expect(config.toYaml({ resolve: true })).toBe("a.b: '***'\n");
  });

  it("tells arguments of different types apart", async () => {
    const kind = asyncResolver("kind", async ([value]) => `${typeof value} ${value}`);
    const config = await composeAsync({
      store: store(
        "a: ${kind:1}\nb: ${kind:'1n'}\nc: ${kind:nan}\nd: ${kind:inf}\ne: ${kind:null}\nf: ${kind:[1]}\ng: ${kind:['1n']}\n",
      ),
      configName: "config",
      resolvers: [kind],
    });
    expect(config.toObject({ resolve: true })).toEqual({
      a: "number 1",
      b: "string 1n",
      c: "number NaN",
      d: "number Infinity",
      e: "object null",
      f: "object 1",
      g: "object 1n",
    });
  });

  it.each([
    [{ layers: ["x"] }, "layers"],
    [{ layers: {} }, "layers"],
    [{ resolvers: ["x"] }, "resolver"],
    [{ resolvers: {} }, "resolvers"],
    [{ sources: {} }, "sources"],
  ])("refuses %j by a coded error", async (wrong, name) => {
    const request = { store: store("a: 1\n"), configName: "config", ...wrong };
    expect(await errorOf(composeAsync(request as never))).toContain(name);
  });

  it("fails with the place of the interpolation, also where there is no answer in time", async () => {
    const vault = asyncResolver("vault", async ([path]) => {
      throw new Error(`no ${path} there`);
    });
    const request = { store: store("a: 1\nb: ${vault:x}\n"), configName: "config" };
    const refused = await errorOf(composeAsync({ ...request, resolvers: [vault] }));
    expect(refused).toContain("no x there");
    expect(refused).toContain("config.yaml:2:4");
    const aborted: boolean[] = [];
    const silent = asyncResolver(
      "vault",
      (_, { signal }) =>
        new Promise<never>(() => signal.addEventListener("abort", () => aborted.push(true))),
      { timeout: 1 },
    );
    expect(await errorOf(composeAsync({ ...request, resolvers: [silent] }))).toContain(
      "vault gave no answer within 0.001 s",
    );
    expect(aborted).toEqual([true]);
  });

  it("uses answers again for as long as they may be used", async () => {
    let asked = 0;
    const counted = (maxAge: number) => asyncResolver("n", async () => ++asked, { maxAge });
    const values = async (resolver: ReturnType<typeof counted>) => {
      const request = { store: store("n: ${n:}\n"), configName: "config", resolvers: [resolver] };
      return [(await composeAsync(request)).get("n"), (await composeAsync(request)).get("n")];
    };
    expect(await values(counted(Number.POSITIVE_INFINITY))).toEqual([1, 1]);
    expect(await values(counted(0))).toEqual([2, 3]);
  });

  it("waits for sources and layers", async () => {
    const config = await composeAsync({
      store: store("hydra:\n  searchpath: [team://presets]\ndefaults: [db: remote, _self_]\n"),
      configName: "config",
      sources: new Map([
        [
          "team",
          async ({ provider, path }) => {
            await Promise.resolve();
            return memorySource(
              { scheme: "team", provider, path },
              new Map([["db/remote", { text: "host: db1\nport: 1\n" }]]),
            );
          },
        ],
      ]),
      layers: [{ name: "the vault", load: async () => ({ "db.port": "7" }), isSecret: true }],
    });
    expect(config.toObject()).toEqual({ db: { host: "db1", port: 7 } });
    expect(config.toYaml()).toContain("port: '***'");
    const failing = composeAsync({
      store: store("a: 1\n"),
      configName: "config",
      layers: [{ name: "the vault", load: async () => Promise.reject(new Error("sealed")) }],
    });
    expect(await errorOf(failing)).toContain("the vault cannot be read: sealed");
  });
});

describe("watchConfig", () => {
  const open: WatchedConfig<PlainValue>[] = [];
  afterEach(() => {
    for (const watched of open.splice(0)) watched.close();
  });

  async function watched(files: Readonly<Record<string, string>>, parent = tmpdir()) {
    const cwd = mkdtempSync(join(parent, "watch-"));
    mkdirSync(join(cwd, "conf", "db"), { recursive: true });
    const write = (name: string, text: string) => {
      // As careful editors do: a reader never sees a half.
      writeFileSync(join(cwd, `${name}.new`), text);
      renameSync(join(cwd, `${name}.new`), join(cwd, name));
    };
    for (const [name, text] of Object.entries(files)) write(name, text);
    const changes: ConfigChange<PlainValue>[] = [];
    const errors: unknown[] = [];
    const config = await watchConfig(
      {
        cwd,
        env: {},
        configDir: "conf",
        configName: "config",
        layers: [dotenv(), environment({ prefix: "APP_" })],
      },
      {
        onChange: (change) => changes.push(change),
        onError: (error) => errors.push(error),
        delay: 5,
      },
    );
    open.push(config);
    return { changes, config, cwd, errors, write };
  }

  const FILES = {
    "conf/config.yaml": "defaults: [db: mysql, _self_]\nlevel: info\n",
    "conf/db/mysql.yaml": "port: 1\n",
  };

  it("gives the changed config and the differences", async () => {
    const { changes, config, write } = await watched(FILES);
    write("conf/db/mysql.yaml", "port: 2\n");
    await until(() => changes.length > 0);
    expect(config.config.get("db.port")).toBe(2);
    const [change] = changes;
    expect(change?.previous.get("db.port")).toBe(1);
    // Each kind of difference has both members, for the compiler too.
    const shown = change?.differences.map(({ path, before, after }) => [
      path,
      before && toObject(before),
      after && toObject(after),
    ]);
    expect(shown).toEqual([[["db", "port"], 1, 2]]);
  });

  it("keeps the last good config of a broken tree, and reports", async () => {
    const { changes, config, errors, write } = await watched(FILES);
    write("conf/db/mysql.yaml", "port: [\n");
    await until(() => errors.length > 0);
    expect(config.config.get("db.port")).toBe(1);
    expect(errors[0]).toMatchObject({ code: "yaml.syntax" });
    write("conf/db/mysql.yaml", "port: 3\n");
    await until(() => changes.length > 0);
    expect(config.config.get("db.port")).toBe(3);
  });

  it("sees files that appear and go, those of layers too", async () => {
    const { changes, config, cwd, write } = await watched(FILES);
    write(".env", "APP_LEVEL=debug\n");
    await until(() => changes.length > 0);
    expect(config.config.get("level")).toBe("debug");
    rmSync(join(cwd, ".env"));
    await until(() => changes.length > 1);
    expect(config.config.get("level")).toBe("info");
  });

  it("tells nothing where no value differs", async () => {
    const { changes, config, errors, write } = await watched(FILES);
    write("conf/db/mysql.yaml", "# the same\nport: 1\n");
    await config.refresh();
    expect([changes, errors]).toEqual([[], []]);
  });

  const NEWER = "defaults: [db: mysql, _self_]\nport:";

  /** Writes all files anew into a directory that took the place of another, and then changes them. */
  async function followed({ changes, write }: Awaited<ReturnType<typeof watched>>) {
    for (const [name, text] of Object.entries(FILES)) write(name, text);
    write("conf/config.yaml", `${NEWER} 2\n`);
    await until(() => changes.at(-1)?.config.get("port") === 2);
    write("conf/config.yaml", `${NEWER} 3\n`);
    await until(() => changes.at(-1)?.config.get("port") === 3);
    write("conf/db/mysql.yaml", "port: 4\n");
    await until(() => changes.at(-1)?.config.get("db.port") === 4);
  }

  it("follows a directory that takes the place of another", async () => {
    const all = await watched(FILES);
    rmSync(join(all.cwd, "conf"), { recursive: true });
    mkdirSync(join(all.cwd, "conf", "db"), { recursive: true });
    await followed(all);
  });

  it("follows it also where it has the inode of that one", async ({ skip }) => {
    // On a disk: file systems there give the number of a removed directory away again, most of them to the next one. Those in memory do not.
    const onDisk = fileURLToPath(new URL("../node_modules/.cache", import.meta.url));
    mkdirSync(onDisk, { recursive: true });
    const all = await watched(FILES, onDisk);
    onTestFinished(() => rmSync(all.cwd, { recursive: true, force: true }));
    const conf = join(all.cwd, "conf");
    const before = statSync(conf).ino;
    for (let tries = 0; tries < 50; tries++) {
      rmSync(conf, { recursive: true });
      mkdirSync(conf);
      if (statSync(conf).ino === before) break;
    }
    skip(statSync(conf).ino !== before, "the file system gives no inode away again");
    mkdirSync(join(conf, "db"));
    await followed(all);
  });
});
