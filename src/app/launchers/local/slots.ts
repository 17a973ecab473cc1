/** What a job has to itself while it runs: one slot of every resource. */
export type Slots = ReadonlyMap<string, string>;

/** Shares out the slots of resources. */
export interface SlotPool {
  /** One of each; undefined while any has none left. */
  take(): Slots | undefined;
  giveBack(slots: Slots): void;
}

export function openSlots(resources: ReadonlyMap<string, readonly string[]>): SlotPool {
  const free = new Map<string, string[]>();
  for (const [name, slots] of resources) free.set(name, [...slots]);
  return {
    take() {
      if ([...free.values()].some(({ length }) => length === 0)) return undefined;
      return new Map([...free].map(([name, slots]) => [name, slots.shift() ?? ""]));
    },
    giveBack(slots) {
      for (const [name, slot] of slots) free.get(name)?.push(slot);
    },
  };
}

/**
 * How a job learns of its slots: `gpu` is what CUDA lets it see; any other resource `name` is in
 * `HYDRACONF_SLOT_NAME`.
 */
export const slotVariables = (slots: Slots): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...slots].map(([name, slot]) => [
      name === "gpu" ? "CUDA_VISIBLE_DEVICES" : `HYDRACONF_SLOT_${name.toUpperCase()}`,
      slot,
    ]),
  );
