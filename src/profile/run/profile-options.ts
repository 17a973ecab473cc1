import {
  anything,
  fn,
  instance,
  type OptionChecks,
  optional,
  path,
  shape,
  text,
  withMethods,
} from "../../values/check-options.ts";
import type { StopRequests } from "../machine/process.ts";
import type { ProfileRequest } from "./run.ts";

const signal = instance(AbortSignal, "an AbortSignal");

/** What a request to profile may be. The check throws ConfigError `value.wrong_type`. */
export const PROFILE_REQUEST: OptionChecks<ProfileRequest> = {
  config: anything,
  fingerprint: text,
  runDirectory: path,
  cwd: path,
  progress: withMethods(["update", "stop"], "a progress", "silentProgress shows nothing"),
  say: fn,
  interrupt: shape<StopRequests>({
    stop: signal,
    kill: signal,
    suspension: optional(withMethods(["join"], "a suspension", "createSuspension makes one")),
  }),
};
