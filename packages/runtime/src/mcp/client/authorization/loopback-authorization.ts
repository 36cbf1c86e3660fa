import { McpError } from "@keelson/protocol";
import { checkOptionNames } from "../../../json/option-names.ts";
import { type Clock, systemClock } from "../../../platform/clock.ts";
import type { McpAuthorize } from "./authorize.ts";

export interface LoopbackAuthorizationOptions {
  /** Opens the address in the person's browser, or shows it. */
  readonly open: (address: string) => unknown;
  /** Of the address on 127.0.0.1 that the browser comes back to, where the authorization server knows only one. Default: one that is free. */
  readonly port?: number | undefined;
  /** How long the person has. Default 300,000. */
  readonly timeoutMs?: number | undefined;
  readonly clock?: Clock | undefined;
}

const DEFAULT_TIMEOUT_MS = 300_000;

/** Logins of a person whose browser is on this machine: it comes back to an address on 127.0.0.1, where is listened for it (RFC 8252). */
export function loopbackAuthorization(options: LoopbackAuthorizationOptions): McpAuthorize {
  checkOptionNames("loopbackAuthorization", options, { open: true, port: true, timeoutMs: true, clock: true });
  const { open, port = 0, timeoutMs = DEFAULT_TIMEOUT_MS, clock = systemClock } = options;
  return async ({ server, state, signal }) => {
    const { openLoopbackRedirect } = await import("../../../environment/auth/loopback-redirect.ts");
    const redirect = await openLoopbackRedirect({ port, state }).catch((cause: unknown) => {
      const message = `Port ${port} of 127.0.0.1, where the browser is to come back to, can't be listened on: something else does. Free it.`;
      throw new McpError({ kind: "other", message }, { cause });
    });
    const message = `Nobody logged in to the server "${server}" within ${timeoutMs} ms. Try again.`;
    const late = (): Error => new McpError({ kind: "timeout", server, timeoutMs, message });
    return {
      uri: redirect.uri,
      async visit(address) {
        await open(address);
        return (await redirect.visit({ clock, timeoutMs, signal, late })).href;
      },
      [Symbol.asyncDispose]: () => redirect[Symbol.asyncDispose](),
    };
  };
}
