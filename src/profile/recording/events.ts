import type { EventAttributes } from "../timeline.ts";

/**
 * What a recording says, record by record, with ids replaced by what they stand for. Times are
 * nanoseconds since the origin that the reader was given. The events of one stream come in order;
 * different streams (threads, as a rule) interleave anyhow.
 */
export type RecordedEvent =
  | ThreadEvent
  | PushEvent
  | PopEvent
  | StartEvent
  | EndEvent
  | MarkEvent
  | ThreadNameEvent
  | CategoryNameEvent;

interface OnThread {
  readonly stream: number;
  /** OS thread id. */
  readonly threadId: number;
  readonly timeNs: number;
}

interface Named extends OnThread, EventAttributes {
  /** Empty for the default domain. */
  readonly domain: string;
  readonly name: string;
}

/** From here on another thread writes this stream: nothing is open on it. */
export interface ThreadEvent extends OnThread {
  readonly kind: "thread";
}

export interface PushEvent extends Named {
  readonly kind: "push";
}

export interface PopEvent extends OnThread {
  readonly kind: "pop";
  readonly domain: string;
}

export interface StartEvent extends Named {
  readonly kind: "start";
  readonly rangeId: bigint;
}

export interface EndEvent extends OnThread {
  readonly kind: "end";
  readonly rangeId: bigint;
}

export interface MarkEvent extends Named {
  readonly kind: "mark";
}

export interface ThreadNameEvent {
  readonly kind: "thread_name";
  readonly threadId: number;
  readonly name: string;
}

export interface CategoryNameEvent {
  readonly kind: "category_name";
  readonly domain: string;
  readonly category: number;
  readonly name: string;
}

export type EventSink = (event: RecordedEvent) => void;
