import type { Suite } from "../suite.ts";
import { cliSuite } from "./cli.ts";
import { completionSuite } from "./completion.ts";
import { composeSuite } from "./compose.ts";
import { composePlugins } from "./compose-plugins.ts";
import { defaultsListSuite } from "./defaults-list.ts";
import { fuzzCompose } from "./fuzz-compose.ts";
import { fuzzInterpolation } from "./fuzz-interpolation.ts";
import { fuzzMerge } from "./fuzz-merge.ts";
import { fuzzOverrides } from "./fuzz-overrides.ts";
import { fuzzYaml } from "./fuzz-yaml.ts";
import { omegaconfDotlist } from "./omegaconf-dotlist.ts";
import { omegaconfInterpolation } from "./omegaconf-interpolation.ts";
import { omegaconfMerge } from "./omegaconf-merge.ts";
import { omegaconfToYaml } from "./omegaconf-to-yaml.ts";
import { omegaconfYaml } from "./omegaconf-yaml.ts";
import { overridesParse } from "./overrides-parse.ts";
import { sweepBasic } from "./sweep-basic.ts";

/** Every kind of corpus file that can be replayed. The first suite that matches a path takes it. */
export const SUITES: readonly Suite[] = [
  // overrides
  overridesParse,
  fuzzOverrides,
  // values
  omegaconfYaml,
  fuzzYaml,
  omegaconfToYaml,
  omegaconfInterpolation,
  fuzzInterpolation,
  omegaconfMerge,
  fuzzMerge,
  omegaconfDotlist,
  // compose
  composePlugins,
  composeSuite,
  defaultsListSuite,
  fuzzCompose,
  // app
  cliSuite,
  sweepBasic,
  completionSuite,
];
