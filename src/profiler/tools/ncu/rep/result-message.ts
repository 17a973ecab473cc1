/** The messages of results in an ncu report. */
import type { PbfReader } from "pbf";
import { type RuleMessage, sectionTitle } from "../../../model/counters.ts";
import * as field from "./messages.ts";
import { type FieldReaders, readEmbedded, readInteger, readText } from "./messages.ts";
import { readThreadStates, type ThreadStates } from "./nvtx-state.ts";
import {
  readFilter,
  readSectionMetric,
  type SectionFilter,
  type SectionMetric,
} from "./section-filter.ts";

/** A result as stored in the file: names are indices into the block's string table. */
export interface ResultMessage {
  threadId: number;
  mangledName: string;
  functionName: string;
  demangledName: string;
  contextId: number | null;
  streamId: number | null;
  nvtx: ThreadStates | null;
  readonly metrics: { nameId: number; value: number; text: string | null }[];
  readonly sections: {
    title: string;
    order: number;
    filter: SectionFilter | null;
    readonly metrics: SectionMetric[];
  }[];
  readonly rules: RuleMessage[];
}

export const emptyResult = (): ResultMessage => ({
  threadId: 0,
  mangledName: "",
  functionName: "",
  demangledName: "",
  contextId: null,
  streamId: null,
  nvtx: null,
  metrics: [],
  sections: [],
  rules: [],
});

type Metric = ResultMessage["metrics"][number];

const VALUE_FIELDS: FieldReaders<Metric> = {
  [field.metricValue.string]: readText("text"),
  [field.metricValue.float]: (metric, pbf) => {
    metric.value = pbf.readFloat();
  },
  [field.metricValue.double]: (metric, pbf) => {
    metric.value = pbf.readDouble();
  },
  [field.metricValue.uint32]: readInteger("value"),
  [field.metricValue.uint64]: readInteger("value"),
};

const METRIC_FIELDS: FieldReaders<Metric> = {
  [field.metricResult.nameId]: readInteger("nameId"),
  [field.metricResult.value]: (metric, pbf) => {
    readEmbedded(pbf, VALUE_FIELDS, metric);
  },
};

type Section = ResultMessage["sections"][number];

const SECTION_HEADER: FieldReaders<SectionMetric[]> = {
  [field.sectionHeader.metrics]: (metrics, pbf) => {
    metrics.push(readSectionMetric(pbf));
  },
};

const SECTION_FIELDS: FieldReaders<Section> = {
  [field.section.displayName]: readText("title"),
  [field.section.order]: readInteger("order"),
  [field.section.header]: (section, pbf) => {
    readEmbedded(pbf, SECTION_HEADER, section.metrics);
  },
  [field.section.filter]: (section, pbf) => {
    section.filter = readFilter(pbf);
  },
};

interface Rule {
  identifier: string;
  section: string;
  readonly items: { text: string; type: number; speedup: number | null; speedupType: number }[];
}

const MESSAGE_FIELDS: FieldReaders<Rule["items"][number]> = {
  [field.ruleMessage.text]: readText("text"),
  [field.ruleMessage.type]: readInteger("type"),
};

const SPEEDUP_FIELDS: FieldReaders<Rule["items"][number]> = {
  [field.ruleSpeedup.type]: readInteger("speedupType"),
  [field.ruleSpeedup.value]: (item, pbf) => {
    item.speedup = pbf.readDouble();
  },
};

const ITEM_FIELDS: FieldReaders<Rule["items"][number]> = {
  [field.ruleItem.message]: (item, pbf) => {
    readEmbedded(pbf, MESSAGE_FIELDS, item);
  },
  [field.ruleItem.speedup]: (item, pbf) => {
    readEmbedded(pbf, SPEEDUP_FIELDS, item);
  },
};

const BODY_FIELDS: FieldReaders<Rule> = {
  [field.ruleBody.items]: (rule, pbf) => {
    rule.items.push(
      readEmbedded(pbf, ITEM_FIELDS, { text: "", type: 0, speedup: null, speedupType: 0 }),
    );
  },
};

const RULE_FIELDS: FieldReaders<Rule> = {
  [field.ruleResult.identifier]: readText("identifier"),
  [field.ruleResult.body]: (rule, pbf) => {
    readEmbedded(pbf, BODY_FIELDS, rule);
  },
  [field.ruleResult.sectionIdentifier]: readText("section"),
};

/** The types of messages as ncu's tables print them. */
const MESSAGE_TYPES: readonly string[] = ["", "INF", "WRN", "ERR", "OPT"];

const SPEEDUP_TYPES = [undefined, "local", "global"] as const;

/** Links have forms such as `@url:TEXT:TARGET@`, `@section:TARGET:TEXT@`; ncu's tables print them this way. */
const withoutMarkup = (text: string): string =>
  text
    .replaceAll(/@url:([^:@]*):([^@]*)@/g, "$1 ($2)")
    .replaceAll(/@(?:section|source|metric):([^:@]*):([^@]*)@/g, "$2")
    .replaceAll(/@(?:section|source|url|metric):[^@]*@/g, "");

function readRule(pbf: PbfReader): readonly RuleMessage[] {
  const empty: Rule = { identifier: "", section: "", items: [] };
  const rule = readEmbedded(pbf, RULE_FIELDS, empty);
  return rule.items
    .filter(({ text }) => text !== "")
    .map(({ text, type, speedup, speedupType }) => {
      const typeName = SPEEDUP_TYPES[speedupType];
      return {
        section: sectionTitle(rule.section),
        rule: rule.identifier,
        type: MESSAGE_TYPES[type] ?? "",
        text: withoutMarkup(text),
        speedup,
        ...(typeName !== undefined && { speedupType: typeName }),
      };
    });
}

/** Field numbers of a result's properties, which differ between kinds of results. */
export type ResultFields = Readonly<Partial<Record<keyof typeof field.profileResult, number>>>;

export function resultReaders(numbers: ResultFields): FieldReaders<ResultMessage> {
  const readers: Record<keyof typeof field.profileResult, FieldReaders<ResultMessage>[number]> = {
    threadId: readInteger("threadId"),
    mangledName: readText("mangledName"),
    functionName: readText("functionName"),
    demangledName: readText("demangledName"),
    metricResults: (result, pbf) => {
      result.metrics.push(
        readEmbedded(pbf, METRIC_FIELDS, { nameId: -1, value: Number.NaN, text: null }),
      );
    },
    sections: (result, pbf) => {
      result.sections.push(
        readEmbedded(pbf, SECTION_FIELDS, { title: "", order: 0, filter: null, metrics: [] }),
      );
    },
    ruleResults: (result, pbf) => {
      result.rules.push(...readRule(pbf));
    },
    nvtx: (result, pbf) => {
      result.nvtx = readThreadStates(pbf);
    },
    contextId: readInteger("contextId"),
    streamId: readInteger("streamId"),
  };
  return Object.fromEntries(
    Object.entries(numbers).map(([name, number]) => [
      number,
      readers[name as keyof typeof field.profileResult],
    ]),
  );
}
