/**
 * How much longer work takes on ten times the input: the best of some rounds that alternate, in time of
 * the processor, so that other programs of a busy machine do not count. About 10 for linear work, 100 for
 * quadratic.
 */
export async function growth(work: (size: number) => unknown, size: number): Promise<number> {
  const best = { small: Number.POSITIVE_INFINITY, large: Number.POSITIVE_INFINITY };
  for (let round = 0; round < 3; round++) {
    best.small = Math.min(best.small, await timeOf(() => work(size)));
    best.large = Math.min(best.large, await timeOf(() => work(10 * size)));
  }
  return best.large / best.small;
}

async function timeOf(work: () => unknown): Promise<number> {
  const started = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(started);
  return user + system;
}
