import { getOrCreate } from "../../../system/get-or-create.ts";
import type { SubmittedTask } from "./submissions.ts";

/** Tasks as Slurm's commands take them, an argument for each array: `77_[0-2,5]`, `78_3`. */
export function taskRanges(
  tasks: readonly Pick<SubmittedTask, "array" | "index">[],
): readonly string[] {
  const byArray = new Map<string, number[]>();
  for (const { array, index } of tasks) getOrCreate(byArray, array, () => []).push(index);
  return [...byArray].map(([array, indices]) => {
    const [only, ...more] = indices;
    return more.length === 0 ? `${array}_${only}` : `${array}_[${ranges(indices)}]`;
  });
}

function ranges(indices: readonly number[]): string {
  const found: [first: number, last: number][] = [];
  for (const index of indices.toSorted((a, b) => a - b)) {
    const last = found.at(-1);
    if (last?.[1] === index - 1) last[1] = index;
    else found.push([index, index]);
  }
  return found.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(",");
}
