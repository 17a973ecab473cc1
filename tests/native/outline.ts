import type { ProcessTimeline, RangeInstance } from "../../src/profiler/model/timeline.ts";

/**
 * Push/pop ranges as nested names, e.g. `main outer(inner inner)`, one line per process, thread and
 * domain. `main` is the thread whose id is the process's, as Linux has it.
 */
export function outline(timeline: { readonly processes: readonly ProcessTimeline[] }): string[] {
  return timeline.processes.flatMap((process) => {
    const lanes = new Map<string, RangeInstance[]>();
    for (const range of process.ranges) {
      if (range.kind !== "push_pop") continue;
      const thread = range.threadId === process.pid ? "main" : "other";
      const lane = `${thread} ${range.threadId} ${range.domain}`;
      lanes.set(lane, [...(lanes.get(lane) ?? []), range]);
    }
    return [...lanes].map(([lane, ranges]) => {
      const [thread, , ...domain] = lane.split(" ");
      return [thread, domain.join(" "), nested(ranges)].filter((part) => part !== "").join(" ");
    });
  });
}

function nested(ranges: readonly RangeInstance[]): string {
  let text = "";
  const open: number[] = [];
  for (const { name, startNs, endNs } of ranges) {
    while (open.length > 0 && startNs >= (open.at(-1) ?? 0)) {
      open.pop();
      text += ")";
    }
    text += `${text === "" || text.endsWith("(") ? "" : " "}${name}(`;
    open.push(endNs ?? Number.POSITIVE_INFINITY);
  }
  return (text + ")".repeat(open.length)).replaceAll("()", "");
}
