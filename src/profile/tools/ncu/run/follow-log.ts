/** The progress line of a run, told by ncu's log while it is written. */
import { open } from "node:fs/promises";
import { setInterval } from "node:timers";
import type { Workload } from "../../../machine/process.ts";
import type { CollectContext } from "../../tool.ts";
import { hangNote } from "./failures.ts";
import { createLogReader, type NcuLog } from "./log.ts";
import type { Pass } from "./pass-plan.ts";

const REFRESH_MS = 200;

export interface Following {
  readonly stop: () => void;
  /** What was measured when ncu warned of a hang; null where it did not. */
  readonly suspect: () => string | null;
}

/**
 * Keeps the progress line going (a program that writes to the terminal itself gets none), and tells
 * at once when ncu suspects that the run hangs.
 */
export function followLog(
  pass: Pick<Pass, "name" | "mode">,
  file: string,
  { stdout }: Pick<Workload, "stdout">,
  { progress, say }: Pick<CollectContext, "progress" | "say">,
): Following {
  const reader = createLogReader();
  const decoder = new TextDecoder();
  let offset = 0;
  let reading = false;
  let stopped = false;
  let warned = false;
  let suspect: string | null = null;
  const show = async () => {
    if (reading) return;
    reading = true;
    try {
      const text = await readFrom(file, offset);
      offset += text.length;
      reader.push(decoder.decode(text, { stream: true }));
    } finally {
      reading = false;
    }
    if (stopped) return;
    const log = reader.state();
    const hang = warned ? null : hangNote(log);
    if (hang !== null) {
      warned = true;
      suspect = log.current;
      progress.stop();
      say(hang);
    }
    if (stdout !== "forward") progress.update(progressText(pass, log));
  };
  void show();
  const timer = setInterval(() => void show(), REFRESH_MS);
  return {
    stop: () => {
      stopped = true;
      clearInterval(timer);
      if (stdout !== "forward") progress.stop();
    },
    suspect: () => suspect,
  };
}

export function progressText(pass: Pick<Pass, "name" | "mode">, log: NcuLog): string {
  const { finished, current, percent } = log;
  const at = current === null ? "" : `, now ${current} (${percent} %)`;
  const hang = hangNote(log) === null ? "" : ", which may hang";
  return `ncu ${pass.name}, ${pass.mode} replay: ${finished} measured${at}${hang}`;
}

async function readFrom(file: string, offset: number): Promise<Buffer> {
  try {
    const handle = await open(file);
    try {
      const { size } = await handle.stat();
      const { buffer, bytesRead } = await handle.read(
        Buffer.alloc(Math.max(0, size - offset)),
        0,
        Math.max(0, size - offset),
        offset,
      );
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch {
    // It is made when ncu starts.
    return Buffer.alloc(0);
  }
}
