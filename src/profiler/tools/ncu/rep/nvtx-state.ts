/** The NVTX ranges that an ncu report stores for each result. */
import type { PbfReader } from "pbf";
import { NO_RANGES, type NvtxRange, type NvtxState } from "../../../model/counters.ts";
import * as field from "./messages.ts";
import { type FieldReaders, readEmbedded, readInteger, readText } from "./messages.ts";

/** The ranges of all threads of a process, stored for each result of a report. */
export interface ThreadStates {
  readonly domains: Map<number, string>;
  readonly threads: { id: number; stacks: DomainRanges[] }[];
  readonly startEnd: DomainRanges[];
  defaultDomain: number | null;
}

interface DomainRanges {
  domain: number;
  readonly ranges: { id: number; name: string }[];
}

const RANGE_FIELDS: FieldReaders<{ id: number; name: string }> = {
  [field.nvtxPushPopRange.name]: readText("name"),
};

const START_END_FIELDS: FieldReaders<{ id: number; name: string }> = {
  [field.nvtxStartEndRange.id]: readInteger("id"),
  [field.nvtxStartEndRange.name]: readText("name"),
};

const domainFields = (
  list: number,
  ranges: FieldReaders<{ id: number; name: string }>,
): FieldReaders<DomainRanges> => ({
  1: readInteger("domain"),
  [list]: (into, pbf) => {
    into.ranges.push(readEmbedded(pbf, ranges, { id: 0, name: "" }));
  },
});

const PUSH_POP_DOMAIN = domainFields(field.nvtxPushPopDomain.stack, RANGE_FIELDS);
const START_END_DOMAIN = domainFields(field.nvtxStartEndDomain.ranges, START_END_FIELDS);

const THREAD_FIELDS: FieldReaders<ThreadStates["threads"][number]> = {
  [field.nvtxThread.threadId]: readInteger("id"),
  [field.nvtxThread.pushPopDomains]: (thread, pbf) => {
    thread.stacks.push(readEmbedded(pbf, PUSH_POP_DOMAIN, { domain: 0, ranges: [] }));
  },
};

const DOMAIN_FIELDS: FieldReaders<{ id: number; name: string }> = {
  [field.nvtxDomain.id]: readInteger("id"),
  [field.nvtxDomain.name]: readText("name"),
};

const STATE_FIELDS: FieldReaders<ThreadStates> = {
  [field.nvtxState.domains]: (state, pbf) => {
    const { id, name } = readEmbedded(pbf, DOMAIN_FIELDS, { id: 0, name: "" });
    state.domains.set(id, name);
  },
  [field.nvtxState.threads]: (state, pbf) => {
    state.threads.push(readEmbedded(pbf, THREAD_FIELDS, { id: 0, stacks: [] }));
  },
  [field.nvtxState.startEndDomains]: (state, pbf) => {
    state.startEnd.push(readEmbedded(pbf, START_END_DOMAIN, { domain: 0, ranges: [] }));
  },
  [field.nvtxState.defaultDomain]: readInteger("defaultDomain"),
};

export const readThreadStates = (pbf: PbfReader): ThreadStates =>
  readEmbedded(pbf, STATE_FIELDS, {
    domains: new Map(),
    threads: [],
    startEnd: [],
    defaultDomain: null,
  });

const DEFAULT_DOMAIN = "<default domain>";

/** The state of the launching thread, together with the stacks of other threads. */
export function stateOf(states: ThreadStates | null, launchingThread: number): NvtxState {
  if (states === null) return NO_RANGES;
  const domainName = (id: number): string => {
    const name = states.domains.get(id) ?? "";
    return id === states.defaultDomain || name === DEFAULT_DOMAIN ? "" : name;
  };
  const rangesOf = (stacks: readonly DomainRanges[]): readonly NvtxRange[] =>
    stacks.flatMap(({ domain, ranges }) =>
      ranges.map(({ name }) => ({ domain: domainName(domain), name })),
    );
  const stacks = new Map<number, readonly NvtxRange[]>();
  for (const { id, stacks: threadStacks } of states.threads)
    stacks.set(id, [...(stacks.get(id) ?? []), ...rangesOf(threadStacks)]);
  const others = [...stacks].filter(([id, ranges]) => id !== launchingThread && ranges.length > 0);
  const pushPop = stacks.get(launchingThread) ?? [];
  const startEnd = states.startEnd
    .flatMap(({ domain, ranges }) => ranges.map(({ id, name }) => ({ id, domain, name })))
    .sort((a, b) => a.id - b.id)
    .map(({ domain, name }) => ({ domain: domainName(domain), name }));
  if (pushPop.length === 0 && startEnd.length === 0 && others.length === 0) return NO_RANGES;
  return {
    pushPop,
    startEnd,
    ...(others.length > 0 && { otherThreads: others.map(([, ranges]) => ranges) }),
  };
}
