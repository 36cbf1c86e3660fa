import type * as Http from "node:http";
import type * as Https from "node:https";
import { ModelError } from "@keelson/protocol";
import { type ProxySettings, type ProxyVariables, proxySettings } from "./proxy-variables.ts";
import type { TlsOptions } from "./tls-options.ts";
import type { RequestOrigin } from "./transport.ts";

/** How long an unused connection is kept where the server names no shorter time: less than the load balancers of the vendors do. */
const IDLE_CONNECTION_MS = 60_000;

/** Who makes the connections to an address. */
export interface AgentSource {
  /** @throws ModelError where none can be made as it was asked for */
  agentFor(address: URL, origin: RequestOrigin | undefined): Http.Agent;
  /** Closes the unused connections now, and those in use when their responses have ended. */
  close(): void;
}

/** Agents of Node that keep connections, made with the first request that needs one; over proxies where the variables name one. */
export class KeepAliveAgents implements AgentSource {
  readonly #tls: TlsOptions | undefined;
  readonly #proxies: ProxyVariables | undefined;
  readonly #agents = new Map<string, Http.Agent>();

  constructor(tls: TlsOptions | undefined, proxies: ProxyVariables | undefined) {
    this.#tls = tls;
    this.#proxies = proxies;
  }

  agentFor(address: URL, origin: RequestOrigin | undefined): Http.Agent {
    const proxy = this.#proxies === undefined ? undefined : proxySettings(this.#proxies, address, origin);
    if (proxy !== undefined) checkNodeKnowsProxies(proxy.variable, origin);
    const key = JSON.stringify([address.protocol, proxy?.environment]);
    let agent = this.#agents.get(key);
    if (agent === undefined) {
      agent = this.#open(address.protocol === "https:", proxy);
      this.#agents.set(key, agent);
    }
    return agent;
  }

  close(): void {
    for (const agent of this.#agents.values()) {
      agent.maxFreeSockets = 0;
      for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
    }
    this.#agents.clear();
  }

  #open(isSecure: boolean, proxy: ProxySettings | undefined): Http.Agent {
    const settings: Http.AgentOptions = {
      keepAlive: true,
      // The connection used last serves next, so that others may grow old and be closed.
      scheduling: "lifo",
      timeout: IDLE_CONNECTION_MS,
      ...(proxy !== undefined && { proxyEnv: { ...proxy.environment } }),
    };
    return isSecure ? new (https().Agent)({ ...settings, ...this.#tls }) : new (http().Agent)(settings);
  }
}

/** The agent that a user made. It is his, so that its connections are left to him. */
export function givenAgent(agent: Http.Agent): AgentSource {
  return { agentFor: () => agent, close() {} };
}

function http(): typeof Http {
  return process.getBuiltinModule("node:http");
}

function https(): typeof Https {
  return process.getBuiltinModule("node:https");
}

/** @throws ModelError where Node is too old to use a proxy */
function checkNodeKnowsProxies(variable: string, origin: RequestOrigin | undefined): void {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21)) return;
  throw new ModelError({
    kind: "other",
    progress: "unsent",
    message: `${variable} is set, but the agents of Node ${process.versions.node} cannot use proxies: update Node to 22.21, 24.5 or later, or pass an agent or a fetch that can`,
    ...origin,
  });
}
