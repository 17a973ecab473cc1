/** Words as they stand at the start of a heading or a sentence: `GPU kernel`, but `kernels` as `Kernels`. */
export const capitalized = (words: string): string =>
  words.charAt(0).toUpperCase() + words.slice(1);
