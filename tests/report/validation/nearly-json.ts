import fc from "fast-check";

/** Texts of tokens of JSON and of what is nearly one: few are JSON, and the others are wrong in every way. */
export const nearlyJson = fc
  .array(
    fc.constantFrom(
      ...'[]{}:,"\\ \n1-.eE0',
      '"a"',
      '"a":',
      "true",
      "null",
      "tru",
      "\\u12",
      "1e5",
      "01",
      "\t",
      "\u0001",
      "\u00a0",
    ),
    { maxLength: 10 },
  )
  .map((tokens) => tokens.join(""));
