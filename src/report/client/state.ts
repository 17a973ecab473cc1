/** The reader's choices, with listeners for changes. */
import type { Region, Scope } from "./scope.ts";

export interface State {
  readonly scope: Scope;
  readonly selected: Region | null;
  /** What takes the full width of the region view. */
  readonly zoomed: Region | null;
}

export interface Store {
  readonly get: () => State;
  readonly set: (change: Partial<State>) => void;
  /** Called at once, and again after each change. */
  readonly watch: (listener: (state: State, before: State | null) => void) => void;
}

export function createStore(initial: State): Store {
  let state = initial;
  const listeners: ((state: State, before: State | null) => void)[] = [];
  return {
    get: () => state,
    set(change) {
      const before = state;
      state = { ...state, ...change };
      for (const listener of listeners) listener(state, before);
    },
    watch(listener) {
      listeners.push(listener);
      listener(state, null);
    },
  };
}
