import type { Agent } from "node:http";
import { checkAgent } from "./check-agent.ts";
import { createFetchTransport } from "./fetch-transport.ts";
import { createHttpTransport } from "./http-transport.ts";
import { givenAgent, KeepAliveAgents } from "./keep-alive-agents.ts";
import { proxyVariables } from "./proxy-variables.ts";
import type { TlsOptions } from "./tls-options.ts";
import type { FetchLike, Transport } from "./transport.ts";

export interface TransportOptions {
  /** Sends the requests instead; proxy and TLS are then its own concern. */
  readonly fetch?: FetchLike;
  /**
   * Makes and keeps the connections instead: `lookup`, `localAddress`, `socketPath`, `ca`, a proxy and what else Node's agents know are
   * its own options then.
   */
  readonly agent?: Agent;
  readonly tls?: TlsOptions;
  /** Where `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` are read. One that can't be used fails the requests that it is for. Default `process.env`; `false` uses no proxy. */
  readonly proxyEnvironment?: { readonly [name: string]: string | undefined } | false;
}

let shared: Transport | undefined;

/** A transport with connections of its own, unless the options are empty: then it is the one that all share. */
export function createTransport(options: TransportOptions = {}): Transport {
  checkAgent(options.agent, options);
  if (options.fetch !== undefined) return createFetchTransport(options.fetch);
  if (options.agent !== undefined) return createHttpTransport(givenAgent(options.agent));
  if (options.tls !== undefined || options.proxyEnvironment !== undefined) return transportOver(options);
  return (shared ??= transportOver({}));
}

function transportOver({ tls, proxyEnvironment = process.env }: TransportOptions): Transport {
  const proxies = proxyEnvironment === false ? undefined : proxyVariables(proxyEnvironment);
  return createHttpTransport(new KeepAliveAgents(tls, proxies));
}
