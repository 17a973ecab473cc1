/** The note that a report's numbers are those of one of several runs: written and recognised here. */

export const medianRunNote = (runs: number): string =>
  `numbers are from the median run of ${runs}; repeats holds the spread over all runs`;

const IS_MEDIAN_RUN = /^numbers are from the median run of \d+; /;

export const isMedianRunNote = (note: string): boolean => IS_MEDIAN_RUN.test(note);
