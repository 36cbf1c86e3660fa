import type * as Http from "node:http";
import type * as Https from "node:https";
import { ModelError } from "@keelson/protocol";
import { NodeExchange, type NodeTarget } from "./node-exchange.ts";
import { cancelled } from "./transport-failure.ts";
import type { Transport, TransportAnswer, TransportOptions, TransportRequest } from "./transport.ts";

export type TlsOptions = Pick<
  Https.AgentOptions,
  "ca" | "cert" | "key" | "pfx" | "passphrase" | "rejectUnauthorized" | "servername" | "minVersion" | "maxVersion" | "ciphers"
>;

/** How long an unused connection is kept: shorter than the load balancers of the vendors do. */
const FREE_SOCKET_MS = 60_000;

/** HTTP over Node's own client with kept-alive connections; `node:http` is loaded by the first request. */
export function createNodeTransport(options: Omit<TransportOptions, "fetch">): Transport {
  const agents = new Map<"http:" | "https:", Http.Agent>();
  // Providers ask for one address over and over.
  let lastUrl: string | undefined;
  let lastTarget: NodeTarget | undefined;

  function agentFor(protocol: "http:" | "https:"): Http.Agent {
    let agent = agents.get(protocol);
    if (agent === undefined) {
      const settings: Https.AgentOptions & { proxyEnv?: NodeJS.ProcessEnv } = {
        keepAlive: true,
        scheduling: "lifo",
        timeout: FREE_SOCKET_MS,
      };
      const proxyEnv = proxyVariables(options.proxyEnvironment);
      if (proxyEnv !== undefined) settings.proxyEnv = proxyEnv;
      agent = protocol === "https:" ? new (https().Agent)({ ...settings, ...options.tls }) : new (http().Agent)(settings);
      agents.set(protocol, agent);
    }
    return agent;
  }

  function targetOf(request: TransportRequest): NodeTarget {
    if (lastTarget !== undefined && lastUrl === request.url) return lastTarget;
    let url: URL;
    try {
      url = new URL(request.url);
    } catch (cause) {
      throw new ModelError(
        { kind: "invalid-request", message: `"${request.url}" is no URL: correct baseUrl`, ...request.origin },
        { cause },
      );
    }
    if (url.protocol !== "http:" && url.protocol !== "https:") {
      throw new ModelError({
        kind: "invalid-request",
        message: `"${request.url}" is neither http nor https: correct baseUrl`,
        ...request.origin,
      });
    }
    const hostname = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
    lastUrl = request.url;
    lastTarget = {
      host: url.host,
      http: url.protocol === "https:" ? https() : http(),
      options: {
        protocol: url.protocol,
        hostname,
        port: url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port,
        path: url.pathname + url.search,
        agent: agentFor(url.protocol),
      },
    };
    return lastTarget;
  }

  return {
    // What the constructor of the promise throws, it rejects with.
    send: (request) =>
      new Promise<TransportAnswer>((resolve, reject) => {
        if (request.signal?.aborted === true) throw cancelled(request.origin, request.signal.reason);
        new NodeExchange(request, targetOf(request), resolve, reject).start();
      }),
    close() {
      for (const agent of agents.values()) agent.destroy();
      agents.clear();
      lastTarget = undefined;
    },
  };
}

function http(): typeof Http {
  return process.getBuiltinModule("node:http");
}

function https(): typeof Https {
  return process.getBuiltinModule("node:https");
}

const PROXY_VARIABLES = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "no_proxy", "NO_PROXY"] as const;

/** `undefined` when no proxy is named. The agent itself speaks to the proxy: CONNECT for https, absolute addresses for http. */
function proxyVariables(environment: TransportOptions["proxyEnvironment"]): NodeJS.ProcessEnv | undefined {
  if (environment === false) return undefined;
  const from = environment ?? process.env;
  const found = PROXY_VARIABLES.filter((name) => from[name] !== undefined && from[name] !== "");
  if (!found.some((name) => !name.toLowerCase().startsWith("no_"))) return undefined;
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major === 24 && minor < 5) {
    throw new ModelError({
      kind: "other",
      message: `${found[0]} is set, but Node ${process.versions.node} cannot use proxies: update Node to 24.5 or later, or pass a fetch that can`,
    });
  }
  return Object.fromEntries(found.map((name) => [name, from[name]]));
}
