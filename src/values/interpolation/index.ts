export type { InterpolationAst } from "./ast.ts";
export type { ResolveContext, ResolveContextOptions } from "./context.ts";
export { createResolveContext } from "./context.ts";
export type { ResolveOptions } from "./resolve-tree.ts";
export { resolveTree } from "./resolve-tree.ts";
