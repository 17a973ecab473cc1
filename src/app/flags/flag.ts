/** One command-line flag. A flag is data: the parser, the usage text and the help only iterate. */
export interface Flag {
  /** What the parsed arguments call it. */
  readonly id: string;
  /** As typed, long form first: `["--config-name", "-cn"]`. */
  readonly names: readonly [string, ...string[]];
  /** `overrides`: every word behind it that is no flag is the flag's, not an override of the run. */
  readonly takes: "nothing" | "value" | "optional-value" | "overrides";
  /** Accepted values; absent means any. */
  readonly choices?: readonly string[];
  /** The value of an `optional-value` flag that has none. */
  readonly valueIfBare?: string;
  /** Ends parsing at once, whatever comes after it. */
  readonly final?: boolean;
  /** What a value is, for shell completion; absent: something that only the user can know. */
  readonly completes?: "config" | "directory" | "file" | "key";
  /** One line for help. */
  readonly help: string;
  /** Why this version refuses the flag; absent when it is supported. */
  readonly refusal?: string;
}

/** How messages call a flag: `--cfg/-c`. */
export const flagLabel = (flag: Flag): string => flag.names.join("/");

/** What stands for the value in usage texts: `{job,hydra,all}`, `CONFIG_NAME`. */
export const flagValueName = (flag: Flag): string =>
  flag.choices === undefined
    ? flag.names[0].replace(/^-+/, "").replaceAll("-", "_").toUpperCase()
    : `{${flag.choices.join(",")}}`;
