/** Asks each question once. Failures are not kept: the next one who asks gets the error anew. */
export function remember<T>(ask: (path: string) => T): (path: string) => T {
  const known = new Map<string, { readonly answer: T }>();
  return (path) => {
    const before = known.get(path);
    if (before !== undefined) return before.answer;
    const answer = ask(path);
    known.set(path, { answer });
    return answer;
  };
}
