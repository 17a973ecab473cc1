/** What tables call how busy GPUs were; a leaf that the page's script reads, too. */

export const BUSY_HEADING = "GPU busy %";

export const BUSY_LEGEND =
  "GPU busy is the part of Wall in which a kernel, copy or set of memory ran, whichever range launched it; the rest of it the GPU was idle.";
