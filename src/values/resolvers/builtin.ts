import { ocCreate } from "./oc-create.ts";
import { ocDecode } from "./oc-decode.ts";
import { ocDeprecated } from "./oc-deprecated.ts";
import { ocDictKeys } from "./oc-dict-keys.ts";
import { ocDictValues } from "./oc-dict-values.ts";
import { ocEnv } from "./oc-env.ts";
import { ocSelect } from "./oc-select.ts";
import type { Resolver } from "./resolver.ts";

/** The resolvers every context knows. */
export const builtinResolvers: readonly Resolver[] = [
  ocCreate,
  ocDecode,
  ocDeprecated,
  ocDictKeys,
  ocDictValues,
  ocEnv,
  ocSelect,
];
