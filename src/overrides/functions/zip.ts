import type { Override } from "../ast.ts";
import { overrideKeyElement } from "../print.ts";
import type { Acceptance } from "./accept.ts";
import type { OverrideFunction } from "./function.ts";
import { fail } from "./function.ts";

const ENUMERABLE: Acceptance = {
  words: "a choice, a range, a logrange or a glob",
  accepts: ({ kind }) => kind === "choice" || kind === "range" || kind === "glob",
  remedy({ kind }) {
    if (kind === "zip") return "put the keys of the inner zip into the outer one";
    if (kind === "list") return "use choice(...) to take its items one by one";
    return kind === "interval"
      ? "an interval has no values to pair"
      : "write a value that is the same in all jobs as a separate override";
  },
};

/**
 * `zip(lr=choice(0.1,0.01),model=choice(a,b))`: a sweep that gives its keys their first values
 * together, then their second values, and so on. Ours: Hydra 1.3 has no such function.
 */
export const zip: OverrideFunction = {
  name: "zip",
  parameters: { named: [], columns: ENUMERABLE },
  evaluate({ columns }, call) {
    if (columns.length === 0) fail(call, "zip needs keys with a sweep each: zip(a=choice(1,2))");
    const keys = columns.map(bareKey);
    const twice = keys.find((key, index) => keys.indexOf(key) !== index);
    if (twice !== undefined) fail(call, `the key '${twice}' is given twice`);
    return { kind: "zip", columns, span: call.span };
  },
};

/** `+db@backup` and `db@backup` assign to one place. */
const bareKey = (column: Override): string => overrideKeyElement(column).replace(/^\++/, "");
