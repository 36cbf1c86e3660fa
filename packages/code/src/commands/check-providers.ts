import { ModelError, type Provider } from "@keelson/protocol";

/** What a provider says when it is asked for the list of its models: that costs nothing, and tells whether key and address are right. */
export type ProviderCheck =
  | { readonly type: "models"; readonly count: number }
  /** It has no such list: nothing can be said of the key. */
  | { readonly type: "no-list" }
  | { readonly type: "refused"; readonly reason: string }
  | { readonly type: "unreachable"; readonly reason: string };

const CHECK_MS = 10_000;
/** How servers without a list respond. */
const NO_LIST: ReadonlySet<number | undefined> = new Set([404, 405, 501]);

/** Asks all of them at once. Failures are told without keys. */
export async function checkProviders(
  providers: { readonly [name: string]: Provider },
  limitMs: number = CHECK_MS,
): Promise<ReadonlyMap<string, ProviderCheck>> {
  return new Map(
    await Promise.all(Object.entries(providers).map(async ([name, provider]) => [name, await ask(provider, limitMs)] as const)),
  );
}

async function ask(provider: Provider, limitMs: number): Promise<ProviderCheck> {
  if (provider.listModels === undefined) return { type: "no-list" };
  const signal = AbortSignal.timeout(limitMs);
  try {
    return { type: "models", count: (await provider.listModels({ signal })).length };
  } catch (error) {
    if (signal.aborted) return { type: "unreachable", reason: `no response within ${limitMs / 1000} s` };
    if (!ModelError.is(error)) return { type: "unreachable", reason: error instanceof Error ? error.message : String(error) };
    const { kind, status, message } = error.failure;
    if (NO_LIST.has(status)) return { type: "no-list" };
    return { type: kind === "authentication" || kind === "billing" ? "refused" : "unreachable", reason: message };
  }
}
