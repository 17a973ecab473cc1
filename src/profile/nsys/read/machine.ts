/** The machine that was recorded, as far as the export tells of it. */
import type { ExportDatabase } from "./database.ts";
import { integer } from "./ids.ts";

/** Null where the export does not say. */
export interface RecordedMachine {
  readonly hostname: string | null;
  readonly os: string | null;
  readonly cpu: string | null;
  /** Names of all its GPUs, in CUDA's order where the export has it. */
  readonly gpus: readonly string[];
}

/** What nsys calls them; beside them stands the process environment, which is nobody's business. */
const FACTS = { hostname: "Hostname", os: "OsDescription", cpu: "CpuDescription" } as const;

export function readMachine(database: ExportDatabase): RecordedMachine {
  const facts = new Map<string, string>();
  const wanted = Object.values(FACTS)
    .map((name) => `'${name}'`)
    .join(", ");
  const columns = { name: "name", value: "value" };
  for (const { name, value } of database.rows(
    "TARGET_INFO_SYSTEM_ENV",
    columns,
    `name IN (${wanted})`,
  ))
    if (typeof value === "string" && value.trim() !== "") facts.set(String(name), value.trim());
  return {
    hostname: facts.get(FACTS.hostname) ?? null,
    os: facts.get(FACTS.os) ?? null,
    cpu: facts.get(FACTS.cpu) ?? null,
    gpus: readGpuNames(database),
  };
}

/** The table's second name is that of exports until 2020, which list the GPUs once for each process. */
function readGpuNames({ tables, rows }: ExportDatabase): readonly string[] {
  const table = tables.has("TARGET_INFO_GPU") ? "TARGET_INFO_GPU" : "TARGET_INFO_CUDA_GPU";
  const columns = {
    name: "name",
    cudaDevice: "cuDevice",
    id: "id",
    oldId: "deviceId",
    bus: "busLocation",
    oldBus: "pciBusId",
  };
  const gpus = new Map<string, { readonly name: string; readonly place: number }>();
  for (const { name, cudaDevice, id, oldId, bus, oldBus } of rows(table, columns)) {
    if (typeof name !== "string") continue;
    const place = integer(cudaDevice) ?? integer(id) ?? integer(oldId) ?? gpus.size;
    gpus.set(String(bus ?? oldBus ?? gpus.size), { name, place });
  }
  return [...gpus.values()].sort((a, b) => a.place - b.place).map(({ name }) => name);
}
