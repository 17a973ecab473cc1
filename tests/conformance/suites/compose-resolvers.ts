import type { Resolver } from "../../../src/values/resolvers/resolver.ts";

/** `${hydra:...}` outside a running application, as the corpus was recorded. */
export const hydraUnset: Resolver = {
  name: "hydra",
  resolve() {
    throw new Error("HydraConfig was not set");
  },
};
