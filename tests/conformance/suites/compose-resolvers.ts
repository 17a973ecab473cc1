import { dirnameResolver, nowResolver } from "../../../src/app/job/resolvers.ts";
import type { Resolver } from "../../../src/engine/values/resolution/resolver.ts";

/** `${hydra:...}` outside a running application, as the corpus was recorded. */
export const hydraUnset: Resolver = {
  name: "hydra",
  resolve() {
    throw new Error("HydraConfig was not set");
  },
};

/** Those that Hydra registers; the time itself is not compared anywhere. */
export const HYDRA_RESOLVERS: readonly Resolver[] = [
  hydraUnset,
  nowResolver(new Date(0)),
  dirnameResolver(),
];
