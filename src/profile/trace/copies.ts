import type { ProcessTimeline } from "../timeline/timeline.ts";

export interface ProcessCopy {
  readonly process: ProcessTimeline;
  /** How many processes of its number stand before it: more than none where recordings are of several machines or boots. */
  readonly copy: number;
  /** The same of its devices: those of its machine, which all processes there share. */
  readonly deviceCopy: number;
}

/** What tells processes of one number apart, and devices, who must not share a row of a viewer. */
export function copiesOf(processes: readonly ProcessTimeline[]): readonly ProcessCopy[] {
  const seen = new Map<number, number>();
  return processes.map((process) => {
    const copy = seen.get(process.pid) ?? 0;
    seen.set(process.pid, copy + 1);
    return { process, copy, deviceCopy: process.machine ?? copy };
  });
}

/** As people see it: the first has its number alone. */
export const shownCopy = (copy: number): string => (copy === 0 ? "" : ` (${copy + 1})`);
