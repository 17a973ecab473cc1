import type { FileHeader } from "./file-header.ts";

/** Clocks of one machine are set right by less than that while a program runs. */
const MOST_APART_NS = 60_000_000_000n;

/** When the clock that counts a recording's times began, on CLOCK_REALTIME; null where the recording does not say. */
export const clockBaseNs = ({ startNs, startRealtimeNs }: FileHeader): bigint | null =>
  startRealtimeNs === 0n ? null : startRealtimeNs - startNs;

/** CLOCK_MONOTONIC begins with each start of a machine: recordings of several have no time in common. */
export function clockBaseNotes(bases: readonly (bigint | null)[]): readonly string[] {
  const known = bases.filter((base) => base !== null);
  const [first = 0n] = known;
  return known.some((base) => isFar(base - first)) ? [SEVERAL_CLOCKS] : [];
}

const isFar = (ns: bigint): boolean => ns > MOST_APART_NS || ns < -MOST_APART_NS;

const SEVERAL_CLOCKS =
  "the recordings' clocks began at different times: they are of several machines or boots, or the machine slept between; what each process took holds, but not which of them did something first, nor traces of all of them";
