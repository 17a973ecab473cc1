/**
 * The places of a report's files: its folder, and a directory per region whose name is valid on every file system and
 * in every shell.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { type Placed, storedDomains } from "./region-path.ts";

// Directory names of regions: safe on every file system, unique for each region even if case is ignored, and readable
// if possible. The labels are stored verbatim in the `report.json` inside.
// A region gets the first of these names that no other region claims: its label, if that is safe unchanged; its label
// with `_` for every unsafe character; its path, joined with `+`; its label with a hash of its identity. So most names
// depend only on the region itself.

/** The identity of a region for its directory. */
export interface NamedRegion extends Placed {
  readonly kind: string;
}

/** The keys of `regionDirectoryNames`: equal for one region in several scopes. */
export const regionKey = ({ domain, path, path_domains = [], kind }: NamedRegion): string =>
  JSON.stringify([domain, path, kind, ...Object.values(storedDomains(domain, path_domains))]);

/** Longest name in bytes of UTF-8; file systems allow 255, and tools add suffixes. */
export const MAX_NAME_BYTES = 200;

type Candidate = (region: NamedRegion) => string | null;

const CANDIDATES: readonly Candidate[] = [
  (region) => (safeName(labelOf(region)) === labelOf(region) ? labelOf(region) : null),
  (region) => safeName(labelOf(region)),
  (region) => {
    const joined = region.path.map(safeName).join("+");
    return byteLength(joined) > MAX_NAME_BYTES ? null : joined;
  },
];

/** A name for every region of a list, by `regionKey`. The order of the list does not matter. */
export function regionDirectoryNames(regions: readonly NamedRegion[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  let unnamed = new Map(regions.map((region) => [regionKey(region), region]));
  for (const candidate of CANDIDATES) {
    const claims = claimsOf(unnamed, candidate);
    const left = new Map<string, NamedRegion>();
    for (const [key, region] of unnamed) {
      const name = candidate(region);
      const folded = name === null ? "" : fold(name);
      if (name === null || taken.has(folded) || claims.get(folded) !== 1) left.set(key, region);
      else {
        names.set(key, name);
        taken.add(folded);
      }
    }
    unnamed = left;
  }
  // Sorted, so that even equal hashes would not make the result depend on the order of the list.
  for (const [key, region] of [...unnamed].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const name = hashedName(region, key, taken);
    names.set(key, name);
    taken.add(fold(name));
  }
  return names;
}

const labelOf = ({ path }: NamedRegion): string => path.at(-1) ?? "";

function claimsOf(
  regions: ReadonlyMap<string, NamedRegion>,
  candidate: Candidate,
): ReadonlyMap<string, number> {
  const claims = new Map<string, number>();
  for (const region of regions.values()) {
    const name = candidate(region);
    if (name !== null) claims.set(fold(name), (claims.get(fold(name)) ?? 0) + 1);
  }
  return claims;
}

function hashedName(region: NamedRegion, key: string, taken: ReadonlySet<string>): string {
  const digest = createHash("sha256").update(key).digest("hex");
  const label = safeName(labelOf(region));
  for (let length = 8; length < digest.length; length += 8) {
    const suffix = `~${digest.slice(0, length)}`;
    const name = `${shorten(label, MAX_NAME_BYTES - suffix.length)}${suffix}`;
    if (!taken.has(fold(name))) return name;
  }
  return digest;
}

/**
 * A label as a file name. Letters, marks and digits of every script stay; `+` and `~` are kept free
 * for joined paths and hashes.
 */
function safeName(label: string): string {
  const replaced = label.normalize("NFC").replaceAll(/[^\p{L}\p{M}\p{N}._-]/gu, "_");
  const started = /^[.\-\p{M}]/u.test(replaced) ? `_${replaced}` : replaced;
  const ended = started.replace(DOTS_AT_END, (dots) => "_".repeat(dots.length));
  const name = ended === "" || RESERVED.test(ended) ? `_${ended}` : ended;
  return shorten(name, MAX_NAME_BYTES - HASH_ROOM);
}

/** Matches at the first dot of a run only: trying each dot would be slow for long runs. */
const DOTS_AT_END = /(?<!\.)\.+$/;

/** Reserved for the longest hash suffix, so that adding one never shortens a name into another one. */
const HASH_ROOM = 60;

/** The names of all files that may stand beside the directories of the regions. */
export const COLLECTOR_FILES = [
  "report.json",
  "report.md",
  "regions.csv",
  "kernels.csv",
  "kernel_names.csv",
  "report.html",
  "timeline.html",
] as const;

/** Device names of Windows with any extension, and the names of those files, with any other, too. */
const RESERVED = new RegExp(
  `^(?:(?:con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3])(?:\\..*)?|(?:${[
    ...new Set(COLLECTOR_FILES.map((name) => name.replace(/\.\w+$/, ""))),
  ].join("|")})\\.\\w+)$`,
  "i",
);

/** Names that are equal after folding may be one file on file systems that ignore case or normalization. */
const fold = (name: string): string =>
  name.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");

const byteLength = (text: string): number => Buffer.byteLength(text, "utf8");

/** Cuts between characters, and removes a trailing dot, which Windows would drop. */
function shorten(name: string, bytes: number): string {
  if (byteLength(name) <= bytes) return name;
  let used = 0;
  let kept = "";
  for (const character of name) {
    used += byteLength(character);
    if (used > bytes) break;
    kept += character;
  }
  return kept.replace(DOTS_AT_END, (dots) => "_".repeat(dots.length));
}

/** The folder of a collector's reports; it contains the directories of the regions. */
export const regionsFolder = (collectorDirectory: string): string =>
  join(collectorDirectory, "regions");

/** The report of all its regions. */
export const regionReportFile = (collectorDirectory: string): string =>
  join(regionsFolder(collectorDirectory), "report.json");
