/** The values that options of several subcommands may have. */

export const READERS = ["auto", "ncu", "own"] as const;
export const NVTX_SCOPES = ["thread", "process"] as const;
export const NAME_BASES = ["function", "demangled", "mangled"] as const;

export const SORTS = ["exclusive", "wall", "gpu", "calls", "kernels", "tree"] as const;
