/** `hydraconf/profile`: what collectors saw, and the regions made of it. */
export * from "./regions/index.ts";
export type * from "./timeline.ts";
