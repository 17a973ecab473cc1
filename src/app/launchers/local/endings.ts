/** What comes to its end, in the order in which it does. */
export interface Endings<T> {
  /** Listened to once, however often the next one is waited for: a promise never forgets who waits. */
  add(ending: Promise<T>): void;
  /**
   * @param within milliseconds; undefined: however long it takes
   * @returns undefined where nothing ends in that time
   * @throws what an ending was rejected with
   */
  next(within?: number): Promise<T | undefined>;
}

export function createEndings<T>(): Endings<T> {
  const over: (() => T)[] = [];
  let wake = (): void => {};
  const settle = (outcome: () => T): void => {
    over.push(outcome);
    wake();
  };
  return {
    add(ending) {
      ending.then(
        (value) => settle(() => value),
        (reason) =>
          settle(() => {
            throw reason;
          }),
      );
    },
    async next(within) {
      if (over.length === 0)
        await new Promise<void>((done) => {
          const timer = within === undefined ? undefined : setTimeout(done, within);
          wake = () => {
            clearTimeout(timer);
            done();
          };
        });
      return over.shift()?.();
    },
  };
}
