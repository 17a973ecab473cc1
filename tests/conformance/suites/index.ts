import type { Suite } from "../suite.ts";

/** Every kind of corpus file that can be replayed. The first suite that matches a path takes it. */
export const SUITES: readonly Suite[] = [];
