/** How tables name GPU activity; a leaf module, since the page's script imports it, too. */

export const BUSY_HEADING = "GPU busy %";

export const BUSY_LEGEND =
  "GPU busy is the part of Wall in which a kernel, copy or set of memory ran, whichever range launched it; for the rest of Wall the GPU was idle.";
