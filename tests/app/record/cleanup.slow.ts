import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { manifestFile } from "../../../src/app/record/layout.ts";
import { readFacts } from "../../../src/app/record/manifest.ts";
import { atPoints, changesOf, killAt, WITHIN } from "../sweep/program/killed.ts";
import { workplace } from "../sweep/program/start.ts";

/** A sweep of which only the second batch shows that a word of the first is a secret. */
const SECRET = "opaque-opaque";
const TELLTALE = ["-m", `+name=${SECRET}`, "+db=open,closed", "hydra.sweeper.max_batch_size=1"];

function telltale() {
  const place = workplace();
  const write = (name: string, text: string) => writeFileSync(join(place.cwd, "conf", name), text);
  mkdirSync(join(place.cwd, "conf/db"));
  write("db/open.yaml", "password: null\n");
  write("db/closed.yaml", `password: ${SECRET}\n`);
  const password = { type: ["string", "null"], writeOnly: true };
  write("schema.json", JSON.stringify({ properties: { db: { properties: { password } } } }));
  return place;
}

test("wherever a launcher is killed, nothing of a record that masks a secret has it", {
  timeout: 600_000,
}, async () => {
  const run = (place: ReturnType<typeof telltale>) => (env: Readonly<Record<string, string>>) =>
    place.startHooked(TELLTALE, { ...WITHIN, ...env });
  const whole = telltale();
  const changes = await changesOf(whole, "launcher", run(whole));
  expect(readFacts(whole.folder).holds_secrets).toBe(true);
  const masked: number[] = [];
  await atPoints(changes, { sideBySide: 2, step: 1 }, async (at) => {
    // The secret comes with the second batch.
    if (at < changes / 2) return;
    const place = telltale();
    await run(place)({ KILL_AT: killAt("launcher", at) });
    if (!existsSync(manifestFile(place.folder))) return;
    await (at % 2 === 0 ? place.sweep(["status", "s"]) : place.start(["--resume", "s"]));
    if (!readFacts(place.folder).holds_secrets) return;
    masked.push(at);
    const files = readdirSync(place.folder, { withFileTypes: true }).filter((one) => one.isFile());
    for (const { name } of files)
      expect(readFileSync(join(place.folder, name), "utf8"), `${at}: ${name}`).not.toContain(
        SECRET,
      );
  });
  expect(masked.length).toBeGreaterThan(3);
});
