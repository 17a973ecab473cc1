import { existsSync, rmSync } from "node:fs";
import { writeFileAtomicSync } from "../../../system/atomic-write.ts";
import { cancelledFile } from "./layout.ts";

/**
 * Says that a sweep is being cancelled: no other job of it starts, wherever its launcher runs and whatever
 * a task makes of the signal that asks it to end.
 */
export const noteCancellation = (folder: string): void =>
  writeFileAtomicSync(cancelledFile(folder), "");

export const clearCancellation = (folder: string): void =>
  rmSync(cancelledFile(folder), { force: true });

export const isCancelled = (folder: string): boolean => existsSync(cancelledFile(folder));
