/** Calls of a program to CUDA and to the system, in a table of numbers: there can be millions. */
import { createColumn, doubles, words } from "./columns.ts";

/** Of CUDA, or of the system. */
export type HostApi = "cuda" | "os";

/** One call. Times are nanoseconds since `Timeline.originNs`. */
export interface HostCall {
  readonly api: HostApi;
  readonly name: string;
  readonly threadId: number;
  readonly startNs: number;
  readonly endNs: number;
}

/** In order of their start. */
export interface HostCallList {
  readonly length: number;
  /** Undefined beyond the end. */
  readonly at: (index: number) => HostCall | undefined;
}

/** All calls of a process, and the time from the first start to the last end. */
export interface RecordedHostCalls extends HostCallList {
  readonly startNs: number;
  readonly endNs: number;
}

/** What a call is among the events of a timeline. */
export const hostCallKind = (api: HostApi) => `${api}_call` as const;

/** @param calls undefined if the collector does not record them */
export function* eachHostCall(calls: HostCallList | undefined): Generator<HostCall> {
  for (let place = 0; place < (calls?.length ?? 0); place++) {
    const call = calls?.at(place);
    if (call !== undefined) yield call;
  }
}

export interface HostCallTable {
  readonly add: (call: HostCall) => void;
  /** Once, after all calls. */
  readonly finish: () => RecordedHostCalls;
}

export function createHostCalls(): HostCallTable {
  const kinds = new Map<string, number>();
  const named: Pick<HostCall, "api" | "name">[] = [];
  const [kind, thread] = [createColumn(words), createColumn(words)];
  const [start, end] = [createColumn(doubles), createColumn(doubles)];
  let length = 0;
  let isOrdered = true;
  let startNs = Number.POSITIVE_INFINITY;
  let endNs = Number.NEGATIVE_INFINITY;
  const kindOf = ({ api, name }: HostCall): number => {
    const key = `${api} ${name}`;
    const existing = kinds.get(key);
    if (existing !== undefined) return existing;
    kinds.set(key, named.length);
    return named.push({ api, name }) - 1;
  };
  return {
    add(call) {
      isOrdered &&= length === 0 || start.get(length - 1) <= call.startNs;
      kind.set(length, kindOf(call));
      thread.set(length, call.threadId);
      start.set(length, call.startNs);
      end.set(length++, call.endNs);
      startNs = Math.min(startNs, call.startNs);
      endNs = Math.max(endNs, call.endNs);
    },
    finish() {
      const order = isOrdered
        ? null
        : Uint32Array.from({ length }, (_, index) => index).sort(
            (a, b) => start.get(a) - start.get(b),
          );
      return {
        ...{ length, startNs, endNs },
        at(index) {
          if (index < 0 || index >= length) return undefined;
          const row = order === null ? index : (order[index] ?? 0);
          const description = named[kind.get(row)];
          if (description === undefined) return undefined;
          const threadId = thread.get(row);
          return { ...description, threadId, startNs: start.get(row), endNs: end.get(row) };
        },
      };
    },
  };
}
