/** Capitalizes words at the start of a heading or a sentence: `kernels` becomes `Kernels`, `GPU kernel` stays. */
export const capitalized = (words: string): string =>
  words.charAt(0).toUpperCase() + words.slice(1);
