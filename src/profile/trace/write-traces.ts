import { join } from "node:path";
import { inBlocks } from "../../report/in-blocks.ts";
import { writeFileAtomic } from "../../system/atomic-write.ts";
import type { Timeline } from "../timeline/timeline.ts";
import { renderChromeTrace } from "./chrome-trace.ts";
import { renderSpeedscope } from "./speedscope.ts";

/** Writes a timeline for trace viewers into a collector's directory; returns the files' paths. */
export async function writeTraces(
  timeline: Timeline,
  directory: string,
): Promise<readonly string[]> {
  const traces: readonly (readonly [string, Iterable<string>])[] = [
    ["trace.json", renderChromeTrace(timeline)],
    ["trace.speedscope.json", renderSpeedscope(timeline, timeline.collector)],
  ];
  const files: string[] = [];
  for (const [name, pieces] of traces) {
    const file = join(directory, name);
    await writeFileAtomic(file, inBlocks(pieces));
    files.push(file);
  }
  return files;
}
