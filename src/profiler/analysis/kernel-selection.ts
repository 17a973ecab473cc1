/** Selects the kernels that count, by patterns of their names and by their GPU time. */

import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { firstFew } from "../../foundation/text/plural.ts";
import {
  comparableName,
  type KernelNameBase,
  type KernelPattern,
  type NamedKernel,
  nameOf,
  parseKernelPattern,
  REGEX,
} from "../../report/selection/kernel-pattern.ts";
import type { Timeline } from "../model/timeline.ts";

/** The selection of kernels. Exclusion takes precedence over inclusion. */
export interface KernelSelectionRequest {
  /** Empty selects all. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly nameBase: KernelNameBase;
  /**
   * Names that the selection is restricted to in addition to the patterns, e.g. the longest; null for no restriction.
   */
  readonly top: readonly string[] | null;
  /** Config keys of the patterns, for messages. */
  readonly keys?: { readonly include: string; readonly exclude: string };
}

export interface KernelSelection {
  keep(kernel: NamedKernel): boolean;
  /**
   * Called after all kernels: describes the selection, and patterns without a match together with the names they were
   * tested on.
   */
  notes(): readonly string[];
}

const KEYS = {
  include: "pipeline.ncu.ncu_cli.kernel_name",
  exclude: "pipeline.ncu.ncu_cli.kernel_exclude",
};

/**
 * Null if all kernels count, so that none needs to be tested.
 *
 * @throws ConfigError `profile.input` for an invalid pattern
 */
export function createKernelSelection(request: KernelSelectionRequest): KernelSelection | null {
  if (request.include.length + request.exclude.length === 0 && request.top === null) return null;
  const keys = request.keys ?? KEYS;
  const include = request.include.map((text) => counted(text, keys.include));
  const exclude = request.exclude.map((text) => counted(text, keys.exclude));
  const top = request.top === null ? null : new Set(request.top.map(comparableName));
  const decided = new Map<string, boolean>();
  let kept = 0;
  let withoutMangled = 0;

  const decide = (kernel: NamedKernel, name: string): boolean => {
    const included = matching(include, name);
    const excluded = matching(exclude, name);
    const isTop =
      top === null ||
      top.has(comparableName(kernel.kernelName)) ||
      (kernel.mangledName !== undefined && top.has(comparableName(kernel.mangledName)));
    return (include.length === 0 || included) && !excluded && isTop;
  };
  return {
    keep(kernel) {
      if (request.nameBase === "mangled" && kernel.mangledName === undefined) withoutMangled++;
      const name = nameOf(kernel, request.nameBase);
      const key = `${name}\0${kernel.kernelName}`;
      const keep = getOrCreate(decided, key, () => decide(kernel, name));
      if (keep) kept++;
      return keep;
    },
    notes: () => [
      describeSelection(request),
      ...unmatchedNotes([...include, ...exclude], decided, request.nameBase),
      ...(kept === 0 && decided.size > 0 ? ["the kernel selection leaves no kernel"] : []),
      ...(withoutMangled > 0
        ? ["the source has no mangled names: patterns were matched against demangled names"]
        : []),
    ],
  };
}

/** Describes the selection for readers of the report. */
function describeSelection({ include, exclude, nameBase, top }: KernelSelectionRequest): string {
  const parts = [
    include.length === 0 ? null : `only ${include.join(", ")}`,
    exclude.length === 0 ? null : `without ${exclude.join(", ")}`,
    top === null ? null : `the longest ${top.length} of a recording`,
  ].filter((part) => part !== null);
  const base = include.length + exclude.length === 0 ? "" : ` (${nameBase} names)`;
  return `kernels counted: ${parts.join("; ")}${base}`;
}

interface CountedPattern extends KernelPattern {
  readonly key: string;
  matched: boolean;
}

const counted = (text: string, key: string): CountedPattern => ({
  ...parseKernelPattern(text, key),
  key,
  matched: false,
});

/** Tests every pattern, because each one without a match must be reported. */
function matching(patterns: readonly CountedPattern[], name: string): boolean {
  let any = false;
  for (const pattern of patterns)
    if (pattern.matches(name)) {
      pattern.matched = true;
      any = true;
    }
  return any;
}

const MAX_NAMES = 5;

function unmatchedNotes(
  patterns: readonly CountedPattern[],
  decided: ReadonlyMap<string, boolean>,
  base: KernelNameBase,
): readonly string[] {
  if (decided.size === 0) return [];
  const names = [...new Set([...decided.keys()].map((key) => key.split("\0")[0] ?? ""))];
  const shown = firstFew(names, MAX_NAMES, "; ");
  return patterns
    .filter(({ matched }) => !matched)
    .map(({ text, key }) => `${key}: '${text}' matches no kernel; ${base} names are: ${shown}`);
}

/** Names of the kernels with the most GPU time in all recordings, in descending order. */
export function topKernelNames(recordings: readonly Timeline[], count: number): readonly string[] {
  const times = new Map<string, number>();
  for (const { kernels } of recordings.flatMap(({ processes }) => processes))
    for (const { kind = "kernel", name, startNs, endNs } of kernels)
      if (kind === "kernel") times.set(name, (times.get(name) ?? 0) + Math.max(endNs - startNs, 0));
  return [...times]
    .sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1))
    .slice(0, count)
    .map(([name]) => name);
}

/** Converts a kernel pattern for ncu's `--kernel-name`, which supports whole names and `regex:`, but no globs. */
export function ncuKernelPattern(text: string): string {
  if (text.startsWith(REGEX) || !/[*?]/.test(text)) return text;
  const expression = [...text].map((character) =>
    character === "*" ? ".*" : character === "?" ? "." : escapeRegExp(character),
  );
  return `${REGEX}^${expression.join("")}$`;
}

export const escapeRegExp = (text: string): string =>
  text.replaceAll(/[\\^$.|?*+()[\]{}]/g, "\\$&");
