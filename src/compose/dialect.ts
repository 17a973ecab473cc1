/** The version of Hydra whose behaviour this is; configs read it as `${hydra.runtime.version}`. */
export const HYDRA_VERSION = "1.3.5";

/** `version_base` of Python programs: the defaults that this dialect has. */
export const HYDRA_VERSION_BASE = "1.3";
