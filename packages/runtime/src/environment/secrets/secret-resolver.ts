import { EnvironmentError, type SecretResolver } from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { type Clock, systemClock } from "../../platform/clock.ts";
import { createEnvSecrets } from "./env-secrets.ts";
import { createFileSecrets } from "./file-secrets.ts";
import { secretFailed } from "./secret-failure.ts";
import type { FoundSecret, SecretSource } from "./secret-source.ts";
import { createSharedWork } from "./shared-work.ts";
import { checkMethodOptions } from "../../json/check-method-options.ts";
import { SECRET_RESOLVER_METHODS } from "../../json/interface-methods.ts";
import { BOUND_OPTION } from "../../json/option-rules.ts";

export interface SecretResolverOptions {
  /** Asked in this order, each for the references of its scheme. Default: the environment and files. */
  readonly sources?: readonly SecretSource[] | undefined;
  /** How long a value is kept whose source doesn't say. 0 keeps none. Default 60,000. */
  readonly cacheMs?: number | undefined;
  /** How long the sources of a reference may take together. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** A longer value is refused. Default 64 KiB. */
  readonly maxBytes?: number | undefined;
  /** Told of every value that is given out, before it is, so that a redactor can know it. */
  readonly onResolve?: ((value: string, reference: string) => void) | undefined;
  readonly clock?: Clock | undefined;
}

/** A {@link SecretResolver} over sources. It shows no value: neither to `JSON.stringify` nor to `util.inspect`. */
export interface SourcedSecretResolver extends SecretResolver, AsyncDisposable {
  /** Asks again for this reference, or for all, at the next use: for a value that was refused where it was sent. */
  forget(reference?: string): void;
}

const DEFAULT_CACHE_MS = 60_000;
const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_BYTES = 64 * 1024;
const MAX_KEPT = 1000;

/**
 * Resolves references such as `env:GITHUB_TOKEN` and `file:/run/secrets/db` where their values are used. Those who ask at once for the
 * same one share one look at its source. Failures reject with `EnvironmentError` of kind `credential-failed`, which names the reference.
 *
 * ```ts
 * const secrets = createSecretResolver({ sources: [createEnvSecrets(), createVaultSecrets({ address, token })] });
 * createRunner({ agent, secrets });
 * ```
 */
export function createSecretResolver(options: SecretResolverOptions = {}): SourcedSecretResolver {
  checkOptionNames("createSecretResolver", options, {
    sources: true,
    cacheMs: true,
    timeoutMs: true,
    maxBytes: BOUND_OPTION,
    onResolve: true,
    clock: true,
  });
  const { cacheMs = DEFAULT_CACHE_MS, timeoutMs = DEFAULT_TIMEOUT_MS, maxBytes = DEFAULT_MAX_BYTES, clock = systemClock } = options;
  const sources = options.sources ?? [createEnvSecrets(), createFileSecrets()];
  const kept = new Map<string, { readonly value: string; readonly until: number }>();
  const shared = createSharedWork<string>();

  const keep = (reference: string, { value, ttlMs = cacheMs }: FoundSecret): void => {
    if (ttlMs <= 0) return;
    const now = clock.now();
    for (const [other, { until }] of kept) if (until <= now || kept.size >= MAX_KEPT) kept.delete(other);
    kept.set(reference, { value, until: now + ttlMs });
  };

  const look = async (reference: string, signal: AbortSignal): Promise<string> => {
    const [scheme, name] = splitReference(reference, sources);
    const asked = sources.filter((source) => source.scheme === scheme);
    for (const source of asked) {
      const found = await askSource(source, reference, { name, signal, maxBytes });
      if (found === undefined) continue;
      if (found.value === "") throw secretFailed(reference, "is empty. Put a value there.");
      if (Buffer.byteLength(found.value) > maxBytes)
        throw secretFailed(reference, `is longer than ${maxBytes} bytes: raise maxBytes, if it is meant to be.`);
      keep(reference, found);
      return found.value;
    }
    throw secretFailed(
      reference,
      `was not found by any source of "${scheme}:". Check its name, and that it is set where this process runs.`,
    );
  };

  const resolver: SourcedSecretResolver = {
    async resolve(reference, { signal } = {}) {
      const known = kept.get(reference);
      const value =
        known !== undefined && known.until > clock.now()
          ? known.value
          : await shared.run(reference, signal, (both) =>
              withinTime(reference, { timeoutMs, clock, signal: both }, (limited) => look(reference, limited)),
            );
      options.onResolve?.(value, reference);
      return value;
    },
    forget(reference) {
      if (reference === undefined) kept.clear();
      else kept.delete(reference);
    },
    async [Symbol.asyncDispose]() {
      kept.clear();
      for (const source of sources) await source.close?.();
    },
  };
  return checkMethodOptions("secrets", resolver, SECRET_RESOLVER_METHODS);
}

/** What has no known scheme may be a value that was put where a reference belongs: it is never repeated. */
function splitReference(reference: string, sources: readonly SecretSource[]): readonly [scheme: string, name: string] {
  const colon = reference.indexOf(":");
  const scheme = reference.slice(0, Math.max(0, colon));
  if (!sources.some((source) => source.scheme === scheme)) {
    const schemes = [...new Set(sources.map((source) => `${source.scheme}:`))].join(", ");
    throw new EnvironmentError({
      kind: "credential-failed",
      credential: "(not shown)",
      message: `A reference to a secret begins with none of ${schemes}; it is not shown, since it may be a secret itself. Give a reference such as env:NAME, or add a source of its scheme.`,
    });
  }
  return [scheme, reference.slice(colon + 1)];
}

async function askSource(
  source: SecretSource,
  reference: string,
  { name, signal, maxBytes }: { readonly name: string; readonly signal: AbortSignal; readonly maxBytes: number },
): Promise<FoundSecret | undefined> {
  try {
    return await source.read(name, { signal, maxBytes });
  } catch (error) {
    if (EnvironmentError.is(error, "credential-failed") && error.cause === undefined) throw error;
    if (signal.aborted) throw error;
    // What an unknown error says may hold the value.
    const code = (error as { readonly code?: unknown } | undefined)?.code;
    const name =
      typeof code === "string" && /^[A-Z][A-Z0-9_]{1,40}$/.test(code) ? code : error instanceof Error ? error.constructor.name : "no error";
    throw secretFailed(reference, `could not be read: its source failed with ${name}.`);
  }
}

interface TimeTerms {
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** A source that doesn't heed the signal is not waited for. */
async function withinTime<T>(
  reference: string,
  { timeoutMs, clock, signal }: TimeTerms,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = (error: EnvironmentError): void => {
    reject(error);
    controller.abort(error);
  };
  const onAbort = (): void =>
    stop(new EnvironmentError({ kind: "cancelled", message: `Nobody waits for the secret ${reference} any more.` }));
  signal.addEventListener("abort", onAbort, { once: true });
  const cancel = clock.after(timeoutMs, () =>
    stop(secretFailed(reference, `was not there within ${timeoutMs} ms. Check that its source can be reached, or raise timeoutMs.`)),
  );
  try {
    return await Promise.race([work(controller.signal), stopped]);
  } finally {
    cancel();
    signal.removeEventListener("abort", onAbort);
  }
}
