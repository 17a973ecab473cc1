/** Several times the longest name of a metric of ncu. */
const LONGEST_NAME = 1024;

/**
 * Whether a name can be that of a metric. One that is longer stands in a damaged file, and is not held against
 * patterns: with its length their time grows by more.
 */
export const isMetricName = (name: string): boolean => name.length <= LONGEST_NAME;
