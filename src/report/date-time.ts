/**
 * A moment as reports tell it, by RFC 3339, whose years have four digits. A clock that is far off is no reason to lose
 * what was measured: it becomes the last or first moment that can be told.
 */
export const dateTime = (moment: Date): string =>
  new Date(Math.min(Math.max(moment.getTime(), FIRST), LAST)).toISOString();

const FIRST = Date.parse("0000-01-01T00:00:00.000Z");
const LAST = Date.parse("9999-12-31T23:59:59.999Z");
