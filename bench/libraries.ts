/**
 * Import of the library and its first value, in processes of their own, beside c12 and beside zod with dotenv: `npm run bench libraries`
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { packageInfo } from "../src/engine/values/package-info.ts";
import { median } from "./measure.ts";
import { type Spent, spentBy } from "./processes.ts";
import { createScore, ms } from "./score.ts";

const ROUNDS = 20;

/** The same settings for each: YAML where a library reads it, else variables. */
const YAML = "server:\n  host: 127.0.0.1\n  port: 8080\nlog:\n  level: info\n";
const ENV = "SERVER_HOST=127.0.0.1\nSERVER_PORT=8080\nLOG_LEVEL=info\n";

const from = (url: string): string => `from ${JSON.stringify(url)};`;

/** @param ours the URL of the library */
const programs = (ours: string) => ({
  empty: `import ${JSON.stringify(ours)};`,
  hydraconf: `import { compose } ${from(ours)}
    const config = compose({ configDir: "conf", configName: "config" });
    if (config.get("server.port") !== 8080) process.exit(1);`,
  c12: `import { loadConfig } ${from(import.meta.resolve("c12"))}
    const { config } = await loadConfig({ name: "app", cwd: process.cwd() });
    if (config.server.port !== 8080) process.exit(1);`,
  zod: `import { config } ${from(import.meta.resolve("dotenv"))}
    import { z } ${from(import.meta.resolve("zod"))}
    config({ quiet: true });
    const schema = z.object({
      SERVER_HOST: z.string(),
      SERVER_PORT: z.coerce.number(),
      LOG_LEVEL: z.enum(["debug", "info", "warning"]),
    });
    if (schema.parse(process.env).SERVER_PORT !== 8080) process.exit(1);`,
});

export async function benchLibraries(print: (line: string) => void): Promise<boolean> {
  const score = createScore(print);
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-bench-"));
  try {
    mkdirSync(join(folder, "conf"));
    writeFileSync(join(folder, "conf/config.yaml"), YAML);
    writeFileSync(join(folder, "app.config.yaml"), YAML);
    writeFileSync(join(folder, ".env"), ENV);
    const written = Object.entries(
      programs(pathToFileURL(join(packageInfo().root, "dist/index.js")).href),
    );
    for (const [name, text] of written) writeFileSync(join(folder, `${name}.mjs`), text);
    const commands: readonly (readonly [string, readonly string[]])[] = [
      ["node", [process.execPath, "-e", "0"]],
      ...written.map(([name]) => [name, [process.execPath, `${name}.mjs`]] as const),
    ];
    const all = commands.map(([name]) => [name, [] as Spent[]] as const);
    for (let round = -2; round < ROUNDS; round++)
      for (const [name, argv] of round % 2 === 0 ? commands : commands.toReversed()) {
        const spent = spentBy(argv, folder);
        if (round >= 0) all.find(([other]) => other === name)?.[1].push(spent);
      }
    const found = new Map(
      all.map(([name, spent]) => [
        name,
        {
          cpuMs: median(spent.map((one) => one.cpuMs)),
          peakKb: median(spent.map((one) => one.peakKb)),
        },
      ]),
    );
    const of = (name: string): Spent =>
      found.get(name) ?? { cpuMs: Number.NaN, peakKb: Number.NaN };
    const [ours, c12, zod] = [of("hydraconf"), of("c12"), of("zod")];
    const others = `c12 ${ms(c12.cpuMs)}, zod with dotenv ${ms(zod.cpuMs)}`;
    const faster = Math.min(c12.cpuMs, zod.cpuMs);
    const what = "import and first value beside the faster of c12 and zod";
    score.atMost(what, ours.cpuMs / faster, 0.8, "x", `${ms(ours.cpuMs)} of CPU; ${others}`);
    const smaller = Math.min(c12.peakKb, zod.peakKb);
    const memory = `${Math.round(ours.peakKb / 1024)} MB; the smaller ${Math.round(smaller / 1024)} MB`;
    score.atMost("  its memory", ours.peakKb / smaller, 1, "x", memory);
    const [empty, node] = [of("empty").cpuMs, of("node").cpuMs];
    const detail = `${ms(empty)} of CPU, node -e 0 ${ms(node)}`;
    score.atMost("import alone beside node -e 0", empty / node, 1.4, "x", detail);
    return score.reached();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exitCode = (await benchLibraries(console.log)) ? 0 : 1;
