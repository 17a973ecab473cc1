/** Tables of an export, by what their rows tell. */

/** What ran on the GPUs; kernels first. */
export const KERNEL_TABLE = "CUPTI_ACTIVITY_KIND_KERNEL";
export const COPY_TABLE = "CUPTI_ACTIVITY_KIND_MEMCPY";
export const SET_TABLE = "CUPTI_ACTIVITY_KIND_MEMSET";
export const GRAPH_TABLE = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
export const ACTIVITY_TABLES = [KERNEL_TABLE, COPY_TABLE, SET_TABLE, GRAPH_TABLE];

/** Calls of the runtime, and those of the driver inside them. */
export const RUNTIME_TABLE = "CUPTI_ACTIVITY_KIND_RUNTIME";
export const CALL_TABLES = [RUNTIME_TABLE, "CUPTI_ACTIVITY_KIND_DRIVER"];

export const NVTX_TABLE = "NVTX_EVENTS";
