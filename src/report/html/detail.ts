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
  /** Characters of a note, of a value of the configuration, and of other free text. */
  readonly text: number;
  /** Notes, and values of the configuration. */
  readonly lines: number;
}

export const MAX_PAGE_BYTES = 1_000_000;

/** From all that a reader can want to what fits whatever the report holds. */
export const DETAILS: readonly Detail[] = [
  {
    kernels: 10_000,
    regions: 10_000,
    metrics: 10_000,
    sections: 1000,
    scopes: 64,
    name: 240,
    text: 2000,
    lines: 2000,
  },
  {
    kernels: 10_000,
    regions: 10_000,
    metrics: 400,
    sections: 1000,
    scopes: 64,
    name: 240,
    text: 2000,
    lines: 2000,
  },
  {
    kernels: 10_000,
    regions: 5000,
    metrics: 100,
    sections: 200,
    scopes: 16,
    name: 160,
    text: 1000,
    lines: 500,
  },
  {
    kernels: 10_000,
    regions: 3000,
    metrics: 40,
    sections: 50,
    scopes: 4,
    name: 120,
    text: 1000,
    lines: 300,
  },
  {
    kernels: 6000,
    regions: 2000,
    metrics: 20,
    sections: 20,
    scopes: 1,
    name: 100,
    text: 500,
    lines: 200,
  },
  {
    kernels: 2000,
    regions: 1000,
    metrics: 12,
    sections: 0,
    scopes: 0,
    name: 80,
    text: 300,
    lines: 100,
  },
  {
    kernels: 500,
    regions: 300,
    metrics: 8,
    sections: 0,
    scopes: 0,
    name: 60,
    text: 200,
    lines: 50,
  },
];
