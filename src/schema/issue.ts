import type { ConfigNode } from "../values/node.ts";
import type { Origin } from "../values/origin.ts";

/** One way in which a tree does not fit its schema. */
export interface SchemaIssue {
  readonly problem: "invalid_value" | "missing_value" | "missing_key" | "unknown_key";
  /** Full dotted key, e.g. `infer.batch_size` or `workload.command[0]`. */
  readonly key: string;
  /** The same place as a JSON pointer. */
  readonly pointer: string;
  /** The value found there; absent for a missing key. */
  readonly value?: ConfigNode;
  /** What the schema wants, as one phrase: `an integer, at least 1`. */
  readonly expected: string;
  /** What is wrong, in the words of a validator that has its own. */
  readonly says?: string;
  /** The schema's description of the key. */
  readonly description?: string;
  /** Where the value came from; for a missing key, where the mapping around it did. */
  readonly origin: Origin;
  /** For an unknown key: the keys that may stand there. */
  readonly available?: readonly string[];
  /** For an unknown key: the accepted key it resembles most, when one is near. */
  readonly nearest?: string;
}
