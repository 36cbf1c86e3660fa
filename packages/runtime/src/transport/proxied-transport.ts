import type * as Http from "node:http";
import type * as Https from "node:https";
import { ModelError } from "@keelson/protocol";
import type { AnswerReceiver, Carrier } from "./carrier.ts";
import { IDLE_CONNECTION_MS } from "./direct-transport.ts";
import { Exchange, type Route } from "./exchange.ts";
import { type HttpAddress, httpAddress } from "./http-address.ts";
import { type ProxySettings, type ProxyVariables, proxySettings } from "./proxy-variables.ts";
import type { TlsOptions } from "./tls-options.ts";
import type { Transport, TransportRequest } from "./transport.ts";
import { cancelled } from "./transport-failure.ts";

/**
 * HTTP over Node's own client, whose agents know how to speak to a proxy: CONNECT for https, absolute addresses for http, and
 * which servers `NO_PROXY` takes out.
 */
export function createProxiedTransport(variables: ProxyVariables, tls: TlsOptions | undefined): Transport {
  const agents = new Map<string, Http.Agent>();

  function agentFor(secure: boolean, proxies: ProxySettings): Http.Agent {
    const key = JSON.stringify([secure, proxies]);
    let agent = agents.get(key);
    if (agent === undefined) {
      checkNodeKnowsProxies(variables);
      const settings = { keepAlive: true, scheduling: "lifo" as const, timeout: IDLE_CONNECTION_MS, proxyEnv: { ...proxies } };
      agent = secure ? new (https().Agent)({ ...settings, ...tls }) : new (http().Agent)(settings);
      agents.set(key, agent);
    }
    return agent;
  }

  return {
    async send(request) {
      if (request.signal?.aborted === true) throw cancelled(request.origin, request.signal.reason, "unsent");
      const address = httpAddress(request);
      const agent = agentFor(address.secure, proxySettings(variables, address, request.origin));
      const route: Route = { host: address.host, carry: (asked, receiver) => carry(asked, address, agent, receiver) };
      return new Exchange(route).start(request);
    },
    close() {
      for (const agent of agents.values()) {
        for (const sockets of Object.values(agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
      }
      agents.clear();
    },
  };
}

function carry(
  { body = [], headers, method }: TransportRequest,
  { secure, hostname, port, path }: HttpAddress,
  agent: Http.Agent,
  receiver: AnswerReceiver,
): Carrier {
  const bodyBytes = body.reduce((sum, part) => sum + part.length, 0);
  const client = (secure ? https() : http()).request({
    protocol: secure ? "https:" : "http:",
    hostname,
    port,
    path,
    agent,
    method,
    headers: method === "GET" && bodyBytes === 0 ? { ...headers } : { ...headers, "content-length": bodyBytes },
  });
  let answer: Http.IncomingMessage | undefined;
  let over = false;
  const broken = (cause: unknown): void => {
    if (over) return;
    over = true;
    receiver.broken(cause);
  };
  client.on("error", broken);
  // Without a listener, Node says nothing of it.
  client.on("upgrade", (_response, socket) => {
    socket.destroy();
    broken(new Error("the answer switches to another protocol, which nobody asked for"));
  });
  client.once("socket", (socket) => {
    const encrypting = (socket as { secureConnecting?: boolean }).secureConnecting;
    if (!socket.connecting && encrypting !== true) receiver.connected();
    else socket.once(encrypting === undefined ? "connect" : "secureConnect", () => receiver.connected());
  });
  client.on("response", (response) => {
    answer = response;
    response.on("error", broken);
    receiver.head({
      status: response.statusCode ?? 0,
      headers: {
        get(name) {
          const value = response.headers[name];
          return Array.isArray(value) ? value.join(", ") : value;
        },
      },
    });
    response.on("data", (chunk: Buffer) => receiver.bytes(chunk));
    response.on("end", () => {
      if (!response.complete) broken(new Error("the server closed the connection"));
      if (over) return;
      over = true;
      receiver.end();
    });
  });
  for (const part of body) client.write(part);
  client.end();
  return {
    pause: () => answer?.pause(),
    resume: () => answer?.resume(),
    destroy() {
      over = true;
      client.destroy();
    },
  };
}

function http(): typeof Http {
  return process.getBuiltinModule("node:http");
}

function https(): typeof Https {
  return process.getBuiltinModule("node:https");
}

/** @throws ModelError where Node is too old to use a proxy. */
function checkNodeKnowsProxies(variables: ProxyVariables): void {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 24 || (major === 24 && minor >= 5)) return;
  throw new ModelError({
    kind: "other",
    progress: "unsent",
    message: `${Object.keys(variables)[0]} is set, but Node ${process.versions.node} cannot use proxies: update Node to 24.5 or later, or pass a fetch that can`,
  });
}
