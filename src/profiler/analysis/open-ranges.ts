/**
 * The ranges that are open in one process while its events are replayed in order, and those visible to a thread: its
 * own push/pop ranges and all start/end ranges of the process, in order of opening.
 */
import type { PayloadNumber } from "../model/payload.ts";
import type { RangeKind, ThreadCounts } from "../model/timeline.ts";
import type { Coverage } from "./interval-union.ts";
import { childNode, latestRegion, type PathNode, type RegionIdentity } from "./path-tree.ts";

/** One instance of a region: a range from its opening to its closing. */
export interface RegionInstance {
  readonly region: RegionIdentity;
  readonly kind: RangeKind;
  readonly threadId: number;
  /** The position in order of opening. */
  readonly order: number;
  /** Whether no range was visible when it was opened. */
  readonly isRoot: boolean;
  /** The innermost enclosing range of the same thread. */
  readonly onThread: RegionInstance | null;
  readonly startNs: number;
  /** For a range that was never closed, the last event of its process. Null if it is not known yet. */
  readonly endNs: number | null;
  /** Time covered by ranges opened inside. */
  readonly inner: Coverage;
  /** Processor time of its thread while it was open, at most its duration; null if unknown, or not known yet. */
  cpuNs: number | null;
  /** The part of that in ranges that the thread opened inside it. */
  innerCpuNs: number;
  /** Page faults and context switches of its thread while it was open; null if unknown, or not known yet. */
  counts: ThreadCounts | null;
  /** Instructions of its thread while it was open; null if unknown, or not known yet. */
  instructions: number | null;
  /** The part of that in ranges that the thread opened inside it. */
  innerInstructions: number;
  /** The program's name of its category; null without one. */
  readonly category: string | null;
  /** Numbers of its payloads, plain and structured; null without payloads. */
  values: readonly PayloadNumber[] | null;
  /** The devices of its kernels, including those of inner ranges, each once. */
  devices: readonly string[];
}

export interface OpenRanges {
  /** The ranges visible to a thread, outermost first. Valid until the next call that changes them. */
  visibleOn(threadId: number): readonly RegionInstance[];
  /** The regions of the visible ranges, each once, since recursion makes a region visible several times. */
  regionsOn(threadId: number): readonly RegionIdentity[];
  /** Whether a range of any thread is open. */
  isAnyOpen(): boolean;
  /** The path of the visible ranges. */
  pathOn(threadId: number): PathNode;
  open(instance: RegionInstance): void;
  /** Returns false if a range that was opened later, and is visible together with it, is still open. */
  close(instance: RegionInstance): boolean;
}

interface ThreadView {
  readonly ownRanges: RegionInstance[];
  /** `own` and the shared ranges merged, as of `version`. */
  visible: RegionInstance[];
  version: number;
  /** Path nodes of the first `nodes.length` visible ranges; the others are computed on demand. */
  readonly nodes: PathNode[];
  /** The regions of `visible`; null if `visible` has changed since. */
  regions: readonly RegionIdentity[] | null;
}

export function createOpenRanges(root: PathNode): OpenRanges {
  const shared: RegionInstance[] = [];
  const views = new Map<number, ThreadView>();
  let version = 0;
  let openCount = 0;

  const viewOf = (threadId: number): ThreadView => {
    let view = views.get(threadId);
    if (view === undefined) {
      view = { ownRanges: [], visible: [], version: -1, nodes: [], regions: null };
      views.set(threadId, view);
    }
    if (view.version !== version) {
      view.visible = mergeByOrder(view.ownRanges, shared);
      view.version = version;
      view.nodes.length = 0;
      view.regions = null;
    }
    return view;
  };

  return {
    visibleOn: (threadId) => viewOf(threadId).visible,

    isAnyOpen: () => openCount > 0,

    regionsOn(threadId) {
      const view = viewOf(threadId);
      view.regions ??= [...new Set(view.visible.map(({ region }) => latestRegion(region)))];
      return view.regions;
    },

    pathOn(threadId) {
      const { visible, nodes } = viewOf(threadId);
      for (const { region } of visible.slice(nodes.length))
        nodes.push(childNode(nodes.at(-1) ?? root, region.node.name, region.node.domain));
      return nodes.at(-1) ?? root;
    },

    open(instance) {
      openCount++;
      if (instance.kind === "start_end") {
        shared.push(instance);
        version++;
        return;
      }
      const view = viewOf(instance.threadId);
      view.ownRanges.push(instance);
      view.visible.push(instance);
      view.regions = null;
    },

    close(instance) {
      openCount--;
      const view = viewOf(instance.threadId);
      const wasLast = view.visible.at(-1) === instance;
      if (instance.kind === "start_end") {
        remove(shared, instance);
        version++;
        return wasLast;
      }
      remove(view.ownRanges, instance);
      const index = remove(view.visible, instance);
      view.regions = null;
      if (view.nodes.length > index) view.nodes.length = index;
      return wasLast;
    },
  };
}

function mergeByOrder(a: readonly RegionInstance[], b: readonly RegionInstance[]) {
  if (b.length === 0) return [...a];
  return [...a, ...b].sort((left, right) => left.order - right.order);
}

/** The search starts at the end, because ranges nearly always close last-in-first-out. */
function remove(list: RegionInstance[], instance: RegionInstance): number {
  const index = list.lastIndexOf(instance);
  if (index === list.length - 1) list.pop();
  else if (index >= 0) list.splice(index, 1);
  return index;
}
