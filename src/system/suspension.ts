/** Something that is suspended together with this process (Ctrl-Z), and resumes with it (`fg`, `bg`). */
export interface Suspendable {
  /** Called just before this process stops; must not wait. */
  readonly suspend?: () => void;
  /** Called as soon as this process resumes, before anything else runs. */
  readonly goOn?: () => void;
}

/** Notifies its members when this process is suspended. */
export interface Suspension {
  /** @returns removes the member again */
  join(member: Suspendable): () => void;
}

/**
 * Suspends others along with this process: programs it has started in separate process groups, which the terminal's Ctrl-Z does not
 * reach. Without members, Ctrl-Z works as usual.
 */
export function createSuspension(): Suspension {
  const members = new Set<Suspendable>();
  const onKey = (): void => {
    for (const member of members) member.suspend?.();
    // Stop as the key would without a listener, so that the shell notices. This call returns when we resume, or at once if there is no
    // shell that could resume us.
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
