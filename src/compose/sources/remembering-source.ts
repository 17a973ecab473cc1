import type { ConfigSource, ItemKind } from "./config-source.ts";
import { remember } from "./remember.ts";

/** A source that asks its original every question once. Failures are not kept. */
export function rememberingSource(source: ConfigSource): ConfigSource {
  const load = remember((path: string) => source.load(path));
  const isGroup = remember((path: string) => source.isGroup(path));
  const available = remember(() => source.available());
  const lists = {
    group: remember((group: string) => source.list(group, "group")),
    config: remember((group: string) => source.list(group, "config")),
  };
  return {
    scheme: source.scheme,
    path: source.path,
    provider: source.provider,
    available: () => available(""),
    isGroup,
    load,
    list: (group: string, kind: ItemKind) => lists[kind](group),
  };
}
