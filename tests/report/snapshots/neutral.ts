/** What a report says of the machine and the moment, taken out: the rest is the same everywhere. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { packageInfo } from "../../../src/engine/values/package-info.ts";

/** Every report of a snapshot is made then. */
export const NOW = new Date("2026-01-31T12:00:00.000Z");

export const RECORDINGS = fileURLToPath(new URL("../../fixtures/recordings", import.meta.url));
const SNAPSHOTS = fileURLToPath(new URL("__snapshots__", import.meta.url));

/**
 * Compares a text with `__snapshots__/NAME`. `vitest run tests/report/snapshots -u` writes them again:
 * then read what changed.
 */
export async function expectSnapshot(name: string, text: string) {
  const shown = neutral(name.endsWith(".html") ? pageText(text) : text);
  await expect(shown).toMatchFileSnapshot(join(SNAPSHOTS, name));
}

const neutral = (text: string): string =>
  text
    // Fingerprints are of the options as well, which grow.
    .replaceAll(/sha256:[0-9a-f]{64}/g, "sha256:<fingerprint>")
    .replaceAll(
      new RegExp(`(hydraconf(?:_version)?\\W[^\\d\\n]{0,20})${packageInfo().version}`, "g"),
      "$1<version>",
    );

/** A page without its script and style, which have tests of their own, and its data a value a line. */
function pageText(html: string): string {
  return html
    .replace(/<style>.*?<\/style>/s, "<style></style>")
    .replace(
      /(<script type="application\/json" id="data">)(.*?)(<\/script>)/s,
      (_, open, json, end) => [open, rows(JSON.parse(json)), end].join("\n"),
    )
    .replace(/<script>.*<\/script>/s, "<script></script>")
    .replaceAll(/'sha256-[^']+'/g, "'sha256-<hash>'");
}

/** Indented JSON, with lists of numbers and texts in one line. */
function rows(value: unknown): string {
  return JSON.stringify(value, null, 1).replaceAll(/\[[^[\]{}]*\]/g, (list) =>
    JSON.stringify(JSON.parse(list)),
  );
}
