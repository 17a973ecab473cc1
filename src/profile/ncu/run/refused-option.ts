import { ConfigError } from "../../../values/errors.ts";

/** Of an option that ranges have no use for. */
export const NO_KERNELS =
  "ncu measures a range as a whole, without telling its kernels apart; use replay_mode=kernel or application";

/** A key below `pipeline.ncu.ncu_cli` that this run, or this ncu, cannot have. */
export const refusal = (key: string, message: string, hint: string): ConfigError =>
  new ConfigError({
    code: "profile.ncu_option",
    key: `pipeline.ncu.ncu_cli.${key}`,
    message: `pipeline.ncu.ncu_cli.${key}: ${message}`,
    hint,
  });
