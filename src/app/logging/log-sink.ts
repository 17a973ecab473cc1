/** Where finished lines go. */
export interface LogSink {
  write(line: string): void;
  close(): void;
}

/** What a config says of one handler. */
export interface HandlerSettings {
  readonly [key: string]: unknown;
}
