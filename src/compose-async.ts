/** `composeAsync`: compositions whose sources, layers and resolvers wait for something, as for a store of secrets. */

import type { Composition } from "./engine/compose/compose.ts";
import { type Config, createConfig } from "./engine/compose/config.ts";
import { leavesOf } from "./engine/compose/explain.ts";
import type { ConfigLayer } from "./engine/compose/layers/layer.ts";
import { isConverted, unconverted } from "./engine/compose/schemas.ts";
import { type SecretPath, secretsOfOutput } from "./engine/compose/secrets.ts";
import type { ConfigSource } from "./engine/compose/sources/config-source.ts";
import type { FileAccess, SourceFactory } from "./engine/compose/sources/repository.ts";
import {
  checkObject,
  checkOptions,
  count,
  fn,
  listOf,
  type OptionChecks,
  optional,
  text,
  trueOrFalse,
} from "./engine/values/check-options.ts";
import type { ConfigSchema } from "./engine/values/config-schema.ts";
import { childAt } from "./engine/values/edit/children.ts";
import { ConfigError, isConfigError } from "./engine/values/errors.ts";
import { splitKey } from "./engine/values/key-path.ts";
import { type ConfigNode, isMissing, type Key } from "./engine/values/node.ts";
import { fromCode } from "./engine/values/origin.ts";
import type { PlainValue } from "./engine/values/plain-objects.ts";
import { keyText } from "./engine/values/python-text.ts";
import type { ResolveContext } from "./engine/values/resolution/context.ts";
import { type Resolver, resolver } from "./engine/values/resolution/resolver.ts";
import { resolveAt } from "./engine/values/resolution/select.ts";
import { ENGINE_OPTIONS, type EngineOptions, openNodeEngine } from "./engine.ts";
import { isError } from "./foundation/system/builtin-types.ts";
import type { StopSignal } from "./foundation/system/platform-types.ts";
import { COMPOSE_OPTIONS, type ComposeOptions, type Engine, withHydra } from "./open-engine.ts";

/** What an asynchronous function is told. */
export interface AsyncCall {
  /** Is aborted when the time is over: for `fetch(url, { signal })`. */
  readonly signal: StopSignal;
}

/** Settings of an asynchronous resolver. */
export interface AsyncResolverOptions {
  /** Milliseconds until it fails. Default: that of `composeAsync`. */
  readonly timeout?: number;
  /**
   * Milliseconds for which an answer is used again by later compositions. Default: 0; one composition asks for equal arguments only once in
   * any case.
   */
  readonly maxAge?: number;
  /** Whether the values that it takes part in are masked wherever the config is shown. Default: false. */
  readonly isSecret?: boolean;
}

/** A resolver that `composeAsync` waits for; `asyncResolver` makes one. */
export interface AsyncResolver extends AsyncResolverOptions {
  readonly name: string;
  /**
   * Gives the value.
   *
   * @param args those of the interpolation, as plain data
   */
  readonly load: (args: readonly PlainValue[], call: AsyncCall) => Promise<unknown>;
  /** Answers that may be used again, by their arguments. */
  readonly answers: Map<string, Answer>;
}

/** What an asynchronous function gave. */
export interface Answer {
  readonly value: Promise<unknown>;
  /** When it was asked for, in milliseconds of `performance.now()`. */
  readonly askedMs: number;
}

/** Values of keys that `composeAsync` waits for, above the config files and below the overrides. */
export interface AsyncLayer {
  /** For messages: `the vault`. */
  readonly name: string;
  /** The texts of keys: `{ "db.password": "..." }`; each is given the type that the schema or the files' value has. */
  readonly load: (call: AsyncCall) => Promise<Readonly<Record<string, string>>>;
  /** Whether they are masked wherever the config is shown. Default: false. */
  readonly isSecret?: boolean;
}

/** A kind of sources that has to be fetched: it gives a source of what it has got, for example by `memorySource`. */
export type AsyncSourceFactory = (
  entry: Parameters<SourceFactory>[0],
  call: AsyncCall,
) => ConfigSource | Promise<ConfigSource>;

/** Options of `composeAsync`: those of `compose`, where resolvers, layers and sources may be asynchronous. */
export interface AsyncComposeOptions<
  Schema extends ConfigSchema | undefined = ConfigSchema | undefined,
  Dir extends string | null = string | null,
  Name extends string | null = string | null,
  Overrides extends readonly string[] = readonly string[],
> extends ComposeOptions<Schema, Dir, Name, Overrides>,
    Omit<EngineOptions<Schema>, "layers" | "resolvers" | "sources"> {
  readonly resolvers?: readonly (Resolver | AsyncResolver)[];
  readonly layers?: readonly (ConfigLayer | AsyncLayer)[];
  readonly sources?: ReadonlyMap<string, AsyncSourceFactory>;
  /** Milliseconds that each asynchronous function may take. Default: 30,000. */
  readonly timeout?: number;
}

const ASYNC_OPTIONS: OptionChecks<AsyncComposeOptions> = {
  ...COMPOSE_OPTIONS,
  ...ENGINE_OPTIONS,
  // Each is checked further where it is used.
  layers: optional(listOf("layers", checkObject)),
  resolvers: optional(listOf("resolvers", checkObject)),
  timeout: optional(count),
};

const LAYER: OptionChecks<AsyncLayer> = { name: text, load: fn, isSecret: optional(trueOrFalse) };

/** Milliseconds. */
const TIMEOUT = 30_000;

/** What one `composeAsync` has asked for. */
interface Waiting {
  /** Answers by question. */
  readonly outcomes: Map<string, { readonly value: unknown } | { readonly error: unknown }>;
  /** Questions that are not answered yet. */
  readonly pending: Map<string, Promise<void>>;
  /** What the resolution of the value at hand came upon. */
  seen: { secret: boolean; failed: boolean };
}

/** More rounds than any tree of interpolations in interpolations has. */
const MOST_ROUNDS = 100;

/** @param files what reads directories; default: the disk */
export async function composeWaiting<Data>(
  options: AsyncComposeOptions,
  files?: FileAccess,
): Promise<Config<Data>> {
  checkOptions("composeAsync", options, ASYNC_OPTIONS, 'composeAsync({ configDir: "conf", ... })');
  const { layers = [], resolvers = [], sources, timeout = TIMEOUT, ...others } = options;
  const waiting: Waiting = {
    outcomes: new Map(),
    pending: new Map(),
    seen: { secret: false, failed: false },
  };
  const engine = openNodeEngine(
    withHydra({
      ...others,
      resolvers: resolvers.map((resolver) =>
        "load" in resolver ? waitingResolver(resolver, waiting, timeout) : resolver,
      ),
      layers: await Promise.all(
        layers.map((layer) => ("load" in layer ? loadedLayer(layer, timeout) : layer)),
      ),
      ...(sources !== undefined && {
        sources: new Map(
          [...sources].map(
            ([scheme, factory]) =>
              [scheme, waitingSource(scheme, factory, waiting, timeout)] as const,
          ),
        ),
      }),
    }),
    undefined,
    files,
  );
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const composed = attempt(() => compose(engine, options, waiting));
    if (waiting.pending.size === 0) {
      if ("error" in composed) throw composed.error;
      return composed.value as Config<Data>;
    }
    await Promise.all(waiting.pending.values());
    waiting.pending.clear();
  }
  throw new ConfigError({
    code: "resolver.failed",
    message: `composeAsync: resolvers ask for new arguments again and again, ${MOST_ROUNDS} times`,
    hint: "the arguments of an asynchronous resolver must not change from one call to the next",
  });
}

const attempt = <T>(make: () => T): { readonly value: T } | { readonly error: unknown } => {
  try {
    return { value: make() };
  } catch (error) {
    return { error };
  }
};

/** Composes, and resolves each value once: what it waits for is then known, and so is what is secret. */
function compose(engine: Engine, options: ComposeOptions, waiting: Waiting): Config {
  const composition = engine.composition(requestOf(options));
  const context = engine.resolveContext();
  const secrets: SecretPath[] = [];
  // What a schema converts is no interpolation any more.
  const root = unconverted(composition.root);
  for (const { node, path } of leavesOf(unconverted(composition.config))) {
    if (isMissing(node) || !mayAsk(node)) continue;
    waiting.seen = { secret: false, failed: false };
    const resolved = attempt(() => resolveAt(root, path, context));
    // Other errors are told where the value is read.
    if ("error" in resolved && waiting.seen.failed) throw resolved.error;
    if (waiting.seen.secret) secrets.push(visiblePath(composition.config, path));
  }
  return configOf(composition, secrets, context, options);
}

/** The path of a written value in the tree as it is: that of the whole map or list which a schema made in its place. */
function visiblePath(root: ConfigNode, path: readonly Key[]): SecretPath {
  const names = path.map(keyText);
  let node: ConfigNode | undefined = root;
  for (const [depth, key] of path.entries()) {
    if (node === undefined || isConverted(node)) return names.slice(0, depth);
    node = childAt(node, key);
  }
  return names;
}

const mayAsk = (node: ConfigNode): boolean =>
  node.kind === "scalar" && typeof node.value === "string" && node.value.includes("${");

function configOf(
  composition: Composition,
  secrets: readonly SecretPath[],
  context: ResolveContext,
  { returnHydraConfig = false }: ComposeOptions,
): Config {
  const root = returnHydraConfig ? composition.root : composition.config;
  const merged = { ...composition, secrets: [...composition.secrets, ...secrets] };
  const all = [...merged.secrets, ...secretsOfOutput(merged, context)];
  return createConfig(root, { ...composition, secrets: all }, context);
}

function requestOf(options: ComposeOptions): ComposeOptions {
  const names = Object.keys(COMPOSE_OPTIONS) as (keyof ComposeOptions)[];
  return Object.fromEntries(
    names.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  );
}

/** The engine's own resolver: it has the answer, or notes that it is wanted. */
const waitingResolver = (
  asyncResolver: AsyncResolver,
  waiting: Waiting,
  timeout: number,
): Resolver =>
  resolver(asyncResolver.name, (...args: readonly PlainValue[]) => {
    if (asyncResolver.isSecret === true) waiting.seen.secret = true;
    return answered(waiting, `resolver ${asyncResolver.name} ${idOf(args)}`, () =>
      answerOf(asyncResolver, args, asyncResolver.timeout ?? timeout),
    );
  });

const waitingSource =
  (scheme: string, factory: AsyncSourceFactory, waiting: Waiting, timeout: number): SourceFactory =>
  (entry) => {
    const place = `${scheme}://${entry.path}`;
    return answered(waiting, `source ${entry.provider} ${place}`, () =>
      limited(place, timeout, async (call) => factory(entry, call)).catch((cause) => {
        throw isConfigError(cause)
          ? cause
          : new ConfigError({
              code: "compose.invalid_config",
              message: `${place} cannot be read: ${messageOf(cause)}`,
              cause,
            });
      }),
    ) as ConfigSource;
  };

/** The answer to a question; throws until it is there. */
function answered(waiting: Waiting, id: string, ask: () => Promise<unknown>): unknown {
  const outcome = waiting.outcomes.get(id);
  if (outcome === undefined) {
    if (!waiting.pending.has(id))
      waiting.pending.set(
        id,
        ask().then(
          (value) => void waiting.outcomes.set(id, { value }),
          (error: unknown) => void waiting.outcomes.set(id, { error }),
        ),
      );
    throw new Error("the answer is not there yet");
  }
  if ("value" in outcome) return outcome.value;
  waiting.seen.failed = true;
  throw outcome.error;
}

function answerOf(asyncResolver: AsyncResolver, args: readonly PlainValue[], timeout: number) {
  const { answers, load, maxAge = 0, name } = asyncResolver;
  const id = idOf(args);
  const previous = answers.get(id);
  const now = performance.now();
  if (previous !== undefined && now - previous.askedMs < maxAge) return previous.value;
  const value = limited(name, timeout, (call) => load(args, call));
  if (maxAge > 0) {
    answers.set(id, { value, askedMs: now });
    // An error is asked for again.
    value.catch(() => answers.delete(id));
  }
  return value;
}

const idOf = (args: readonly PlainValue[]): string =>
  JSON.stringify(args, (_, value: unknown) =>
    // JSON has no bigint, NaN or infinity, and a text may look like one.
    typeof value === "object" && value !== null ? value : `${typeof value} ${String(value)}`,
  );

async function loadedLayer(layer: AsyncLayer, timeout: number): Promise<ConfigLayer> {
  checkOptions("composeAsync", layer, LAYER);
  const { isSecret = false, load, name } = layer;
  let texts: Readonly<Record<string, string>>;
  try {
    texts = await limited(name, timeout, load);
  } catch (cause) {
    throw new ConfigError({
      code: "compose.invalid_config",
      message: `${name} cannot be read: ${messageOf(cause)}`,
      cause,
    });
  }
  return {
    name,
    values: () =>
      Object.entries(texts).map(([key, value]) => ({
        path: splitKey(key),
        text: value,
        origin: fromCode(name),
        label: name,
        isSecret,
      })),
  };
}

/** Waits for a function, but no longer than its time. */
async function limited<T>(
  name: string,
  timeout: number,
  run: (call: AsyncCall) => Promise<T>,
): Promise<T> {
  const abort = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<never>((_, reject) => {
    if (timeout === Number.POSITIVE_INFINITY) return;
    timer = setTimeout(() => {
      abort.abort();
      reject(new Error(`${name} gave no answer within ${timeout / 1000} s`));
    }, timeout);
  });
  try {
    return await Promise.race([run({ signal: abort.signal }), over]);
  } finally {
    clearTimeout(timer);
  }
}

const messageOf = (error: unknown): string => (isError(error) ? error.message : String(error));
