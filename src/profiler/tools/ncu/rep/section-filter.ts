/**
 * Decides which metrics a section shows for a result: the same section file serves all GPUs and all kinds of results,
 * and its metrics have filters for these, and alternatives.
 */
import type { PbfReader } from "pbf";
import * as field from "./messages.ts";
import { type FieldReaders, readEmbedded, readInteger, readText } from "./messages.ts";

/** Compute capabilities as numbers: 75 for 7.5. Null: no limit. */
interface GpuRange {
  min: number | null;
  max: number | null;
}

export interface SectionFilter {
  readonly all: GpuRange;
  /** Apply instead of `all` if not empty. */
  readonly items: GpuRange[];
  /** Kinds of results; empty: all. */
  readonly scopes: number[];
}

/** A metric of a section. Its first option that matches the result replaces it. */
export interface SectionMetric {
  name: string;
  filter: SectionFilter | null;
  readonly options: SectionMetricOption[];
}

interface SectionMetricOption {
  name: string;
  filter: SectionFilter | null;
}

/** The properties of a result that filters check; null if unknown, and then nothing is hidden because of it. */
export interface ShownFor {
  /** Compute capability: 75 for 7.5. */
  readonly gpu: number | null;
  readonly scope: number | null;
}

/** Values of `CollectionScope`. */
export const SCOPE = { launch: 1, range: 2 } as const;

/** The name of the metric that a section shows in one position; null if it shows none. */
export function shownMetric(
  metric: SectionMetric,
  section: SectionFilter | null,
  viewer: ShownFor,
): string | null {
  if (!isForGpu(section, viewer)) return null;
  const shown = [...metric.options, metric].find(
    ({ filter }) => isForGpu(filter, viewer) && isForScope([filter, section], viewer),
  );
  return shown === undefined || shown.name === "" ? null : shown.name;
}

const isForGpu = (filter: SectionFilter | null, { gpu }: ShownFor): boolean => {
  if (filter === null || gpu === null) return true;
  const { all, items } = filter;
  return (items.length > 0 ? items : [all]).some((range) => holds(range, gpu));
};

/** The first filter that names kinds of results decides: a metric may apply to more kinds than its section. */
const isForScope = (filters: readonly (SectionFilter | null)[], { scope }: ShownFor): boolean => {
  const scopes = filters.find((filter) => filter !== null && filter.scopes.length > 0)?.scopes;
  return scope === null || scopes === undefined || scopes.includes(scope);
};

const holds = ({ min, max }: GpuRange, gpu: number): boolean =>
  (min === null || gpu >= min) && (max === null || gpu <= max);

const RANGE: FieldReaders<GpuRange> = {
  [field.gpuRange.min]: readInteger("min"),
  [field.gpuRange.max]: readInteger("max"),
};

const SCOPES: FieldReaders<number[]> = {
  [field.collectionFilter.scopes]: (scopes, pbf) => {
    pbf.readPackedVarint(scopes);
  },
};

const FILTER: FieldReaders<SectionFilter> = {
  [field.sectionFilter.min]: ({ all }, pbf) => {
    all.min = pbf.readVarint();
  },
  [field.sectionFilter.max]: ({ all }, pbf) => {
    all.max = pbf.readVarint();
  },
  [field.sectionFilter.items]: ({ items }, pbf) => {
    items.push(readEmbedded(pbf, RANGE, { min: null, max: null }));
  },
  [field.sectionFilter.collection]: ({ scopes }, pbf) => {
    readEmbedded(pbf, SCOPES, scopes);
  },
};

export const readFilter = (pbf: PbfReader): SectionFilter =>
  readEmbedded(pbf, FILTER, { all: { min: null, max: null }, items: [], scopes: [] });

const OPTION: FieldReaders<SectionMetricOption> = {
  [field.sectionMetricOption.name]: readText("name"),
  [field.sectionMetricOption.filter]: (option, pbf) => {
    option.filter = readFilter(pbf);
  },
};

const METRIC: FieldReaders<SectionMetric> = {
  [field.sectionMetric.name]: readText("name"),
  [field.sectionMetric.filter]: (metric, pbf) => {
    metric.filter = readFilter(pbf);
  },
  [field.sectionMetric.options]: ({ options }, pbf) => {
    options.push(readEmbedded(pbf, OPTION, { name: "", filter: null }));
  },
};

export const readSectionMetric = (pbf: PbfReader): SectionMetric =>
  readEmbedded(pbf, METRIC, { name: "", filter: null, options: [] });
