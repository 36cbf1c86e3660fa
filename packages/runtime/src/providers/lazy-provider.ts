import type { InferEvent, InferOptions, InferRequest, Provider } from "@keelson/protocol";
import { unfitTools } from "./fitting/unfit-tools.ts";
import { outputBoundOf, OUTPUT_OF_WIRE } from "./output-bound.ts";
import { checkMethodOptions } from "../json/check-method-options.ts";
import { PROVIDER_METHODS } from "../json/interface-methods.ts";

/** A provider whose code is loaded with its first request. */
export function lazyProvider(name: string, wire: string, load: () => Promise<Provider>): Provider {
  let loading: Promise<Provider> | undefined;
  let loaded: Provider | undefined;
  const get = (): Promise<Provider> => (loading ??= load().then((provider) => (loaded = provider)));
  const lazy: Provider = {
    name,
    wire,
    // Each piece of a stream would wait once more in a generator: only the first request goes through one.
    stream: (request, options) => (loaded ? loaded.stream(request, options) : streamAfterLoad(get, request, options)),
    // Asked before the first request.
    outputBound(request) {
      if (loaded?.outputBound !== undefined) return loaded.outputBound(request);
      const members = OUTPUT_OF_WIRE[wire];
      return members === undefined ? (request.maxTokens ?? null) : outputBoundOf(request, request.model, members);
    },
    unfitTools: (tools) => loaded?.unfitTools?.(tools) ?? unfitTools(tools, wire),
    listModels: async (options) => (await (await get()).listModels?.(options)) ?? [],
  };
  return checkMethodOptions("provider", lazy, PROVIDER_METHODS);
}

async function* streamAfterLoad(
  get: () => Promise<Provider>,
  request: InferRequest,
  options: InferOptions | undefined,
): AsyncGenerator<InferEvent> {
  yield* (await get()).stream(request, options);
}
