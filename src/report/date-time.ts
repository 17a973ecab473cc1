/**
 * A date and time as reports write it: RFC 3339, in UTC. Its years have four digits, so a clock that is far off is
 * clamped to the first or last moment that can be written, so that no measurement is lost.
 */
export const dateTime = (moment: Date): string =>
  new Date(Math.min(Math.max(moment.getTime(), FIRST), LAST)).toISOString();

const FIRST = Date.parse("0000-01-01T00:00:00.000Z");
const LAST = Date.parse("9999-12-31T23:59:59.999Z");
