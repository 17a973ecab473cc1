import type { NcuResult } from "./results.ts";

/** Results that are needed once more after they were added up; as many as memory allows. */
export interface KeptResults {
  add(result: NcuResult): void;
  /** False once there were too many: then none is kept. */
  readonly complete: () => boolean;
  readonly stream: (onResult: (result: NcuResult) => void) => Promise<void>;
}

const MAX_BYTES = 96e6;
/** Of a result without its values. */
const RESULT_BYTES = 300;

export function createKeptResults(): KeptResults {
  let kept: NcuResult[] = [];
  let bytes = 0;
  return {
    add(result) {
      bytes += RESULT_BYTES + result.values.byteLength;
      if (bytes <= MAX_BYTES) kept.push(result);
      else kept = [];
    },
    complete: () => bytes <= MAX_BYTES,
    stream: async (onResult) => {
      for (const result of kept) onResult(result);
    },
  };
}
