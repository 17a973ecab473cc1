/** The launcher of submitit's local queue. */
import type { Setting } from "../../job/settings.ts";
import { localLauncher } from "../../launch/local/local-launcher.ts";
import {
  cannotBe,
  MINUTE,
  positive,
  readLauncher,
  STANDARD,
} from "../../launch/local/local-settings.ts";
import { SUBMITIT_LOCAL } from "./submitit.ts";
import { QUEUE_SETTINGS } from "./submitit-settings.ts";

/** A number of which a process of this machine has one. */
const setting = ({ field: declared, help }: Setting): Setting<void> => ({
  field: declared,
  help,
  read(value, refuse) {
    if (value !== undefined && value !== 1)
      refuse(cannotBe(value, "1: a job is one process of this machine"));
  },
});

/** The settings that have a meaning here. */
const { nodes, tasks_per_node, timeout_min } = QUEUE_SETTINGS;
const LOCAL_QUEUE = {
  nodes: setting(nodes),
  tasks_per_node: setting(tasks_per_node),
  timeout_min: { ...timeout_min, read: positive(MINUTE) },
};

export const submititLauncher = localLauncher("submitit", SUBMITIT_LOCAL, (section) => {
  const { timeout_min: timeLimit } = readLauncher(LOCAL_QUEUE, section);
  return { ...STANDARD, jobs: ONE_PER_CPU, timeLimit };
});

const ONE_PER_CPU = -1;
