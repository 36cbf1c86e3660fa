import { invalidOption, shown } from "../invalid-option.ts";
import { definedOptions } from "../../../json/defined-options.ts";
import { checkOptionNames } from "../../../json/option-names.ts";
import { checkCount } from "../create-mcp-server.ts";
import type { McpAuthenticate, McpProtectedResource } from "./authentication.ts";
import { isLoopback } from "./host-rules.ts";
import type { RateLimit } from "./rate-limiter.ts";

export interface ServeMcpHttpOptions {
  /** 0 (the default) takes one that is free. */
  readonly port?: number | undefined;
  /** Default 127.0.0.1: this machine alone. */
  readonly host?: string | undefined;
  /** Default `/mcp`. */
  readonly path?: string | undefined;
  /**
   * Whom it lets in: a token, at least 16 characters, or a function. `false` lets in everybody who gets there, which has to be said where other
   * machines do. Default: everybody of this machine.
   */
  readonly authenticate?: McpAuthenticate | false | undefined;
  /** Scopes that a token must have. */
  readonly requiredScopes?: readonly string[] | undefined;
  /** Told to clients without a token, so that they find out where to get one. */
  readonly protectedResource?: McpProtectedResource | undefined;
  /** Names that `Host` may say. Default: of this machine where it listens there, else any. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Whose pages may call it, by name or origin. Default: of this machine where it listens there, else none. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /**
   * Limits each client: a principal at an address. Refused requests count against a limit of the address alone. `false`: none. Default 1,200 a
   * minute, with a burst of 300.
   */
  readonly rateLimit?: RateLimit | false | undefined;
  /** Default 4 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Above it, a connection in which nothing is being answered is closed for a new one. Default 512. */
  readonly maxConnections?: number | undefined;
  /** Of what is written for a client that does not read it. Default 8 MiB. */
  readonly maxWaitingBytes?: number | undefined;
  /** Of the handshake revisions; the one that rested longest makes room. Default 256. */
  readonly maxSessions?: number | undefined;
  /** How long such a session may rest. Default 30 minutes. */
  readonly sessionIdleMs?: number | undefined;
  /** How long a client has to send a whole request. Default 30 seconds. */
  readonly requestTimeoutMs?: number | undefined;
  /** Time, injected. Default: the system's. */
  readonly now?: (() => number) | undefined;
}

/** What holds where nothing is said. */
interface Defaults {
  readonly port: number;
  readonly host: string;
  readonly path: string;
  readonly rateLimit: RateLimit | false;
  readonly maxBodyBytes: number;
  readonly maxConnections: number;
  readonly maxWaitingBytes: number;
  readonly maxSessions: number;
  readonly sessionIdleMs: number;
  readonly requestTimeoutMs: number;
  readonly requiredScopes: readonly string[];
  readonly now: () => number;
}

const DEFAULTS: Defaults = {
  port: 0,
  host: "127.0.0.1",
  path: "/mcp",
  rateLimit: { perMinute: 1_200, burst: 300 },
  maxBodyBytes: 4 * 1024 * 1024,
  maxConnections: 512,
  maxWaitingBytes: 8 * 1024 * 1024,
  maxSessions: 256,
  sessionIdleMs: 30 * 60_000,
  requestTimeoutMs: 30_000,
  requiredScopes: [],
  now: Date.now,
};

export type HttpOptions = Defaults & Omit<ServeMcpHttpOptions, keyof Defaults>;

const MIN_TOKEN_LENGTH = 16;

/** @throws AgentError of kind `invalid-option` that says what is wrong with one */
export function checkHttpOptions(options: ServeMcpHttpOptions): HttpOptions {
  checkOptionNames("serveMcpHttp", options, {
    port: true,
    host: true,
    path: true,
    authenticate: true,
    requiredScopes: true,
    protectedResource: true,
    allowedHosts: true,
    allowedOrigins: true,
    rateLimit: true,
    maxBodyBytes: true,
    maxConnections: true,
    maxWaitingBytes: true,
    maxSessions: true,
    sessionIdleMs: true,
    requestTimeoutMs: true,
    now: true,
  });
  const given = { ...DEFAULTS, ...definedOptions(options) } as HttpOptions;
  const { port, host, path, authenticate, rateLimit, protectedResource } = given;
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw invalidOption("port", `must be a number from 0 to 65535, not ${shown(port)}`);
  if (typeof host !== "string" || host === "") throw invalidOption("host", `must be a name or an address, not ${shown(host)}`);
  if (typeof path !== "string" || !path.startsWith("/"))
    throw invalidOption("path", `must begin with a slash, as in "/mcp", not ${shown(path)}`);
  if (typeof authenticate === "string" && authenticate.length < MIN_TOKEN_LENGTH)
    throw invalidOption("authenticate", `must be a token of at least ${MIN_TOKEN_LENGTH} characters, as of crypto.randomUUID()`);
  if (authenticate !== undefined && authenticate !== false && typeof authenticate !== "string" && typeof authenticate !== "function")
    throw invalidOption("authenticate", `must be a token, a function or false, not ${shown(authenticate)}`);
  if (authenticate === undefined && !isLoopback(host))
    throw invalidOption(
      "authenticate",
      `is missing, and other machines reach ${host}: give a token or a function, or \`false\` where something before the server lets clients in`,
    );
  if (rateLimit !== false && !((rateLimit.perMinute ?? 0) > 0 && (rateLimit.burst ?? 1) >= 1))
    throw invalidOption("rateLimit", "must be { perMinute, burst? } with a rate above 0 and a burst from 1 on, or false");
  if (protectedResource !== undefined && !(protectedResource.authorizationServers?.length > 0))
    throw invalidOption("protectedResource", "must name `authorizationServers`: the addresses of those who give out tokens");
  const { resource } = protectedResource ?? {};
  if (resource !== undefined && !URL.canParse(resource))
    throw invalidOption(
      "protectedResource",
      `must name as its \`resource\` the address of the server as clients see it, not ${shown(resource)}`,
    );
  for (const name of ["maxBodyBytes", "maxConnections", "maxWaitingBytes", "maxSessions", "sessionIdleMs", "requestTimeoutMs"] as const)
    checkCount(name, given[name]);
  return given;
}
