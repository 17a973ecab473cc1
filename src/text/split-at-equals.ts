/** `name=value` at its first `=`; the value is undefined where there is none. */
export function splitAtEquals(word: string): readonly [name: string, value: string | undefined] {
  const at = word.indexOf("=");
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}
