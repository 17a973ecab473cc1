/** The kernels of a report, merged over regions. */
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { createNameNumbers, type NameNumbers } from "../../foundation/text/name-numbers.ts";
import type { KernelRecord, NCUProfileRegion, NCUProfileRegionReport } from "../model/document.ts";
import { mergeHardware } from "./kernel-hardware.ts";
import { indicesOfLargest, regionLabels, treeRows } from "./tree-rows.ts";

export interface KernelOfReport extends KernelRecord {
  /** Label of the region with most of its time; among equals, the innermost. */
  readonly mostlyIn: string;
}

/** A report can have millions of kernels, of which only the longest are shown. */
export interface KernelsOfReport {
  readonly length: number;
  /** The time of each kernel, in milliseconds; 0 without one. */
  readonly times: readonly number[];
  readonly calls: number;
  /** Each device once. */
  readonly devices: readonly string[];
  readonly kinds: readonly KernelRecord["kind"][];
  /** The longest kernels, in descending order. */
  readonly longest: (count?: number) => readonly KernelOfReport[];
}

/**
 * Kernels of the outermost regions shown, merged; if ranges nest, each kernel is in exactly one of them.
 * Stored in columns, since an object and a key for each would take several times the memory of the report.
 */
export function kernelsOfReport({ regions }: NCUProfileRegionReport): KernelsOfReport {
  const identities = createIdentities();
  const merged: number[] = [];
  /** Total time by identity number; NaN if the kernel is in no outermost region yet. */
  const totals: number[] = [];
  const calls: number[] = [];
  const homes: number[] = [];
  const homeTimes: number[] = [];
  /** Only for kernels with counters, which few reports have. */
  const measured = new Map<number, KernelRecord[]>();
  /** Whether the time of a call is known. */
  const timed: boolean[] = [];
  for (const [place, { region, level }] of treeRows(regions).entries())
    for (const record of region.kernels) {
      const number = identities.numberOf(record);
      const ms = record.total_ms ?? 0;
      if (number === totals.length) {
        totals.push(Number.NaN);
        calls.push(0);
        homes.push(place);
        homeTimes.push(ms);
      } else if (isHome(region, ms, regions[homes[number] ?? 0], homeTimes[number])) {
        homes[number] = place;
        homeTimes[number] = ms;
      }
      if (level > 0) continue;
      if (Number.isNaN(totals[number])) {
        merged.push(number);
        totals[number] = 0;
      }
      totals[number] = (totals[number] ?? 0) + ms;
      if (record.total_ms !== null) timed[number] = true;
      calls[number] = (calls[number] ?? 0) + record.calls;
      if (record.hardware !== undefined) getOrCreate(measured, number, () => []).push(record);
    }

  const labelOf = regionLabels(regions);
  const rowOf = (number: number): KernelOfReport => {
    const { kernel_name, kind, device } = identities.identityOf(number);
    const count = calls[number] ?? 0;
    const total_ms = timed[number] === true ? (totals[number] ?? 0) : null;
    const home = regions[homes[number] ?? 0];
    const mostlyIn = home === undefined ? "" : labelOf(home);
    const hardware = mergeHardware(measured.get(number) ?? []);
    return {
      kernel_name,
      kind,
      total_ms,
      calls: count,
      mean_ms: total_ms === null ? null : total_ms / count,
      device,
      ...(hardware !== undefined && { hardware }),
      mostlyIn,
    };
  };
  const times = merged.map((number) => totals[number] ?? 0);
  const places = identities.placesOf(merged);
  return {
    length: merged.length,
    times,
    calls: merged.reduce((sum, number) => sum + (calls[number] ?? 0), 0),
    devices: [...new Set(places.map(({ device }) => device))],
    kinds: [...new Set(places.map(({ kind }) => kind))],
    longest: (count = merged.length) =>
      indicesOfLargest(times, count).map((place) => rowOf(merged[place] ?? 0)),
  };
}

/** Whether a region has more of a kernel's time than the best one so far, or as much and is nested deeper. */
const isHome = (
  region: NCUProfileRegion,
  ms: number,
  shownRegion: NCUProfileRegion | undefined,
  knownMs = 0,
): boolean => ms > knownMs || (ms === knownMs && region.depth > (shownRegion?.depth ?? 0));

type Place = Pick<KernelRecord, "kind" | "device">;
type Identity = Pick<KernelRecord, "kernel_name" | "kind" | "device">;

interface Identities {
  /** The identity number of a kernel, starting from 0 in order of first appearance. */
  readonly numberOf: (record: Identity) => number;
  readonly identityOf: (number: number) => Identity;
  /** The places of these identity numbers, each once. */
  readonly placesOf: (numbers: readonly number[]) => readonly Place[];
}

/** Numbers kernels by name, kind and device. Devices are few, but there may be a million names. */
function createIdentities(): Identities {
  const names: string[] = [];
  const places: Place[] = [];
  const placeNumbers: number[] = [];
  const byPlace = new Map<string, NameNumbers>();
  const namesAt = ({ kind, device }: Place): NameNumbers => {
    const key = `${kind} ${device}`;
    let numbers = byPlace.get(key);
    if (numbers === undefined) {
      const place = places.push({ kind, device }) - 1;
      numbers = createNameNumbers(
        (name) => {
          placeNumbers.push(place);
          return names.push(name) - 1;
        },
        (number) => names[number] ?? "",
      );
      byPlace.set(key, numbers);
    }
    return numbers;
  };
  const placeOf = (number: number): Place => places[placeNumbers[number] ?? 0] as Place;
  return {
    numberOf: (record) => namesAt(record).numberOf(record.kernel_name),
    identityOf: (number) => ({ kernel_name: names[number] ?? "", ...placeOf(number) }),
    placesOf: (numbers) => [...new Set(numbers.map(placeOf))],
  };
}
