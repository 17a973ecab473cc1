import { ConfigError } from "./errors.ts";
import { flagAt } from "./flags.ts";
import type { Place } from "./place.ts";
import { fullKeyOf } from "./place.ts";
import { isContainerType } from "./types/type-of.ts";

/*
 * What a read-only tree refuses, in OmegaConf's words: what contains a value is changed where another one takes its
 * place; a value is set where a scalar stays and becomes another one.
 */

/** @throws ConfigError `value.readonly` where what contains a value is to be changed and the flag holds */
export function refuseReadonly(parent: Place, at: Place): void {
  if (!flagAt(parent, "readonly")) return;
  throw readonly(
    at,
    parent.node.kind === "list"
      ? "ListConfig is read-only"
      : "Cannot change read-only config container",
  );
}

/**
 * OmegaConf asks for the flag where scalars are set, and not where declared maps, lists and unions are.
 * @throws ConfigError `value.readonly` where the flag holds
 */
export function refuseSetting(at: Place): void {
  const { type } = at.node;
  if (isContainerType(type) || type?.kind === "union") return;
  if (flagAt(at, "readonly")) throw readonlyValue(at);
}

export const readonlyValue = (at: Place): ConfigError =>
  readonly(at, "Cannot set value of read-only config node");

const readonly = (at: Place, message: string): ConfigError =>
  new ConfigError({
    code: "value.readonly",
    message,
    key: fullKeyOf(at),
    origin: at.node.origin,
  });
