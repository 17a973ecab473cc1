import { regionKey } from "../../report/directory-name.ts";
import type { RegionModel, RegionModelEntry, ScopeModel } from "../regions/index.ts";

const JOIN_NOTE =
  "calls and wall times are from a recording of the same program, not from the run under ncu";

/**
 * Puts calls and wall times of a recording into what ncu measured, by domain, kind and path: under
 * ncu, wall time says nothing. Numbers that a scope has already stay. Processes have other ids in
 * each run: they are joined where both runs had one, or ids agree.
 */
export function joinWallTimes(model: RegionModel, recorded: RegionModel): RegionModel {
  let joined = false;
  const scopes = model.scopes.map((scope) => {
    const other = counterpart(scope, model, recorded);
    if (other === null) return scope;
    const known = new Map(other.regions.map((entry) => [regionKey(entry), entry]));
    if (!scope.regions.some((entry) => known.has(regionKey(entry)))) return scope;
    joined = true;
    return {
      ...scope,
      regions: scope.regions.map((entry) => withTimes(entry, known.get(regionKey(entry)))),
      totals: { ...scope.totals, wallNs: scope.totals.wallNs ?? other.totals.wallNs },
      notes: [...scope.notes, JOIN_NOTE],
    };
  });
  return joined ? { ...model, clock: recorded.clock, scopes } : model;
}

function counterpart(
  { scope }: ScopeModel,
  { scopes }: RegionModel,
  recorded: RegionModel,
): ScopeModel | null {
  const same = recorded.scopes.find((other) => other.scope === scope);
  if (scope === "aggregate" || (scope.startsWith("process:") && same !== undefined))
    return same ?? null;
  if (!scope.startsWith("process:")) return null;
  const [only, ...others] = recorded.scopes.filter((other) => other.scope.startsWith("process:"));
  const own = scopes.filter((other) => other.scope.startsWith("process:"));
  return only !== undefined && others.length === 0 && own.length === 1 ? only : null;
}

function withTimes(
  entry: RegionModelEntry,
  recorded: RegionModelEntry | undefined,
): RegionModelEntry {
  if (recorded === undefined || entry.wallNs !== null) return entry;
  const { wallNs, exclusiveWallNs, invocationWallNs } = recorded;
  return {
    ...entry,
    invocations: entry.invocations > 0 ? entry.invocations : recorded.invocations,
    wallNs,
    exclusiveWallNs,
    invocationWallNs,
  };
}
