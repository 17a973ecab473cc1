import type { Size } from "../values/budget.ts";
import type { MapNode } from "../values/node.ts";
import type { DefaultsRow } from "./defaults/list.ts";
import type { Repository } from "./sources/repository.ts";

/**
 * What defaults lists came to when they were merged, from their first row on. The jobs of a sweep over
 * groups begin with the same rows, Hydra's own above all: those are merged once and, since trees are
 * immutable, shared. Merges in which a resolver had a say are not: it may say something else to another job.
 */
export interface KnownMerges {
  find(rows: readonly DefaultsRow[]): KnownBeginning;
  add(rows: readonly DefaultsRow[], merged: KnownMerge): void;
}

export interface KnownMerge {
  readonly root: MapNode;
  /** What merging has put in where interpolations stood. */
  readonly expanded: Size;
}

export interface KnownBeginning {
  /** How many of the rows the longest known merge is of, and what it came to. */
  readonly length: number;
  readonly merged: KnownMerge | undefined;
  /** How many of the rows are the beginning of some list that was merged. */
  readonly shared: number;
}

export function knownMerges(repository: Repository): KnownMerges {
  const before = KNOWN.get(repository);
  if (before !== undefined) return before;
  const merges = createKnownMerges();
  KNOWN.set(repository, merges);
  return merges;
}

const KNOWN = new WeakMap<Repository, KnownMerges>();

/** Beyond this all are forgotten: what is still in use is merged again by the next few jobs. */
const LIMIT = 64;

/** A row behind those that lead to it. */
interface Step {
  readonly row: DefaultsRow;
  readonly next: Step[];
  /** The merge of all rows up to here, where it was wanted. */
  merged: KnownMerge | undefined;
}

function createKnownMerges(): KnownMerges {
  let first: Step[] = [];
  let count = 0;
  return {
    find(rows) {
      let [length, shared]: [number, number] = [0, 0];
      let merged: KnownMerge | undefined;
      let steps = first;
      for (const row of rows) {
        const step = stepOf(steps, row);
        if (step === undefined) break;
        shared++;
        if (step.merged !== undefined) [length, merged] = [shared, step.merged];
        steps = step.next;
      }
      return { length, merged, shared };
    },
    add(rows, merged) {
      if (count === LIMIT) [first, count] = [[], 0];
      let steps = first;
      for (const [index, row] of rows.entries()) {
        const step = stepOf(steps, row) ?? addStep(steps, row);
        if (index === rows.length - 1) step.merged = merged;
        steps = step.next;
      }
      count++;
    },
  };
}

const stepOf = (steps: readonly Step[], row: DefaultsRow): Step | undefined =>
  steps.find((step) => bringTheSame(step.row, row));

function addStep(steps: Step[], row: DefaultsRow): Step {
  const step: Step = { row, next: [], merged: undefined };
  steps.push(step);
  return step;
}

/** All that the content of a row depends on. */
const bringTheSame = (one: DefaultsRow, other: DefaultsRow): boolean =>
  one.loaded === other.loaded &&
  one.package === other.package &&
  one.configPath === other.configPath &&
  one.primary === other.primary;
