import type { Provider } from "@keelson/protocol";
import type { Seams } from "./seams.ts";

/** A model as a process reaches it. Whatever else the provider has, its price for one, it keeps. */
export function disturbedProvider(seams: Seams, provider: Provider): Provider {
  return Object.assign(Object.create(provider) as Provider, {
    stream: ((request, options) =>
      seams.stream(`${provider.name}, after ${request.messages.length} messages`, () =>
        provider.stream(request, options),
      )) satisfies Provider["stream"],
  });
}
