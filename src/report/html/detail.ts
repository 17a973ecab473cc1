/** How much of a report a page holds. A page has a size that mail and browsers bear; reports do not. */
export interface Detail {
  /** Records of kernels, over all lists; the longest stay. */
  readonly kernels: number;
  /** Regions of a scope; the longest stay. */
  readonly regions: number;
  readonly metrics: number;
  /** Regions with their sections, the longest first. */
  readonly sections: number;
  /** Reports of single processes and devices beside the main one. */
  readonly scopes: number;
  /** Characters of a name. */
  readonly name: number;
}

export const MAX_PAGE_BYTES = 1_000_000;
export const MAX_KERNEL_RECORDS = 10_000;

/** From all that a reader can want to what fits whatever the report holds. */
export const DETAILS: readonly Detail[] = [
  { kernels: 10_000, regions: 10_000, metrics: 400, sections: 1000, scopes: 64, name: 240 },
  { kernels: 10_000, regions: 5000, metrics: 100, sections: 200, scopes: 16, name: 160 },
  { kernels: 10_000, regions: 3000, metrics: 40, sections: 50, scopes: 4, name: 120 },
  { kernels: 6000, regions: 2000, metrics: 20, sections: 20, scopes: 1, name: 100 },
  { kernels: 2000, regions: 1000, metrics: 12, sections: 0, scopes: 0, name: 80 },
  { kernels: 500, regions: 300, metrics: 8, sections: 0, scopes: 0, name: 60 },
];
