/** The slots of this machine that settings ask for. */
import { ConfigError } from "../../../engine/values/errors.ts";
import { askProgramSync } from "../../../foundation/system/ask-program-sync.ts";
import { refusalIn } from "../../job/settings.ts";
import { usableCpus } from "./cpus.ts";
import { cannotBe, type LocalSettings, SECTION } from "./local-settings.ts";
import { mostSlots, type Resource } from "./slots.ts";

/** Settings in which `auto` is replaced by the machine's slots. */
export interface PlacedSettings extends LocalSettings {
  readonly resources: ReadonlyMap<string, Resource>;
}

/** Limits the number of parallel processes to the slots of the scarcest resource. */
export function withinSlots(settings: PlacedSettings): PlacedSettings {
  const jobs = [...settings.resources.values()].map(({ perJob, perSlot, slots }) =>
    Math.floor((slots.length * perSlot) / perJob),
  );
  return { ...settings, jobs: Math.min(settings.jobs, ...jobs) };
}

/**
 * Finds the GPUs that `auto` stands for: those in `CUDA_VISIBLE_DEVICES`, else all that `nvidia-smi` lists; and the number of
 * processes where it is counted from the CPUs.
 *
 * @param env the environment of the program
 * @throws ConfigError `app.launcher` if there are none; `value.wrong_type` if a job needs more slots than there are
 */
export function onThisMachine(
  settings: LocalSettings,
  env: Readonly<Record<string, string | undefined>>,
): PlacedSettings {
  const resources = new Map<string, Resource>();
  for (const [name, asked] of settings.resources) {
    const slots = asked.slots === "auto" ? visibleGpus(env) : asked.slots;
    const most = mostSlots(slots);
    if (asked.perJob > most)
      refusalIn(SECTION, "resources")(
        cannotBe(
          asked.perJob,
          `at most ${most}: there are no more slots that have nothing in common ([${slots.join("; ")}])`,
        ),
        { below: name },
      );
    resources.set(name, { ...asked, slots });
  }
  const jobs = settings.jobs > 0 ? settings.jobs : Math.max(1, usableCpus() + 1 + settings.jobs);
  return { ...settings, jobs, resources };
}

const NVIDIA_SMI_MS = 60_000;

function visibleGpus(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const setting = env["CUDA_VISIBLE_DEVICES"];
  if (setting !== undefined) {
    const listed = setting.split(",").map((part) => part.trim());
    const visible = listed.slice(0, endOfList(listed));
    if (visible.length === 0) throw noGpus(`CUDA_VISIBLE_DEVICES is '${setting}'`);
    return visible;
  }
  const { code, failed, stderr, stdout, why } = askProgramSync({
    argv: ["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"],
    env,
    limitMs: NVIDIA_SMI_MS,
  });
  if (failed)
    throw noGpus(
      code === "ENOENT"
        ? "nvidia-smi is not on PATH"
        : `nvidia-smi: ${`${stdout}\n${stderr}`.trim().split("\n")[0] || why}`,
    );
  const found = stdout.split("\n").map((line) => line.trim());
  const gpus = found.filter((line) => /^\d+$/.test(line));
  if (gpus.length === 0) throw noGpus(`nvidia-smi shows none: ${found[0] || "no line"}`);
  return gpus;
}

/** CUDA ignores the list from the first unknown device on: `-1` hides all after it. */
function endOfList(listed: readonly string[]): number {
  const end = listed.findIndex((part) => part === "" || part.startsWith("-"));
  return end === -1 ? listed.length : end;
}

const noGpus = (why: string): ConfigError =>
  new ConfigError({
    code: "app.launcher",
    message: `No GPU was found for hydra.launcher.resources.gpu: ${why}`,
    key: "hydra.launcher.resources.gpu",
    hint: "list the slots yourself: +hydra.launcher.resources.gpu=[0,1]",
  });
