import { setTimeout as sleep } from "node:timers/promises";
import { isConfigError } from "../../../values/errors.ts";

/** How to wait for a Slurm that takes nothing for now. */
export interface Patience {
  /** Is told what is waited for, a line each time. */
  readonly say: (line: string) => void;
  /** Ends the waiting: no other try follows. */
  readonly signal?: AbortSignal;
  /** Waits for milliseconds, or until the signal comes. */
  readonly pause?: (milliseconds: number, signal?: AbortSignal) => Promise<unknown>;
}

/** Five minutes in all: as long as a controller takes that is started again with a long queue. */
const PAUSES_S = [1, 2, 4, 8, 15, 30, 60, 60, 60, 60];

/**
 * Tries until Slurm takes it, or that has taken too long.
 *
 * @throws whatever a try throws but `slurm.busy`; that once there is no patience left, or the signal comes
 */
export async function patiently<T>(attempt: () => Promise<T>, patience: Patience): Promise<T> {
  const { pause = pauseFor, say, signal } = patience;
  const isStopped = () => signal?.aborted === true;
  for (let tries = 0; ; tries++)
    try {
      return await attempt();
    } catch (error) {
      const seconds = PAUSES_S[tries];
      if (seconds === undefined || !isBusy(error) || isStopped()) throw error;
      say(`${error.message}; trying again in ${seconds} s`);
      await pause(seconds * 1000, signal);
      if (isStopped()) throw error;
    }
}

export const isBusy = (error: unknown): error is Error =>
  isConfigError(error) && error.code === "slurm.busy";

const pauseFor = (milliseconds: number, signal?: AbortSignal): Promise<unknown> =>
  sleep(milliseconds, undefined, signal && { signal }).catch((error: unknown) => {
    if (signal?.aborted !== true) throw error;
  });
