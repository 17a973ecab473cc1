/** What stands still with this process while a terminal suspends it (Ctrl-Z), and goes on with it (`fg`, `bg`). */
export interface Suspendable {
  /** Called before this process stops, and waits for nothing. */
  readonly suspend?: () => void;
  /** Called as soon as it goes on, before anything else of it does. */
  readonly goOn?: () => void;
}

/** Who is to be told when this process is suspended. */
export interface Suspension {
  /** @returns leaves it again */
  join(member: Suspendable): () => void;
}

/**
 * Takes others along when this process is suspended: what it has started in process groups of their own, which the terminal's key does not
 * reach. While there is none, the key does what it always does.
 */
export function createSuspension(): Suspension {
  const members = new Set<Suspendable>();
  const onKey = (): void => {
    for (const member of members) member.suspend?.();
    // As the key does where nobody listens: the shell is told. This comes back when we go on, and at once where no shell could do that.
    process.off(KEY, onKey);
    process.kill(process.pid, KEY);
    process.on(KEY, onKey);
    for (const member of members) member.goOn?.();
  };
  return {
    join(member) {
      if (members.size === 0) process.on(KEY, onKey);
      members.add(member);
      return () => {
        members.delete(member);
        if (members.size === 0) process.off(KEY, onKey);
      };
    },
  };
}

const KEY = "SIGTSTP";
