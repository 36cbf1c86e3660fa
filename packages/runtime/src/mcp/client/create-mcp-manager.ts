import { pathToFileURL } from "node:url";
import {
  AgentError,
  type Executor,
  type JsonObject,
  McpError,
  type McpServerConfig,
  type McpServerStatus,
  type McpToolDescriptor,
  type OnElicitation,
  type SecretResolver,
  type ToolSource,
} from "@keelson/protocol";
import { checkOptionNames } from "../../json/option-names.ts";
import { type Clock, systemClock } from "../../platform/clock.ts";
import { createBackgroundCalls } from "./background-calls.ts";
import type { Fetch } from "./bounded-fetch.ts";
import type { McpAuthorize } from "./authorization/authorize.ts";
import { manageAuthorization } from "./authorization/manage-authorization.ts";
import type { ServerAuthorization } from "./authorization/server-authorization.ts";
import { createMemoryTokenStore, type McpTokenStore } from "./authorization/token-store.ts";
import type { ResolveHost } from "../../transport/resolve-public.ts";
import { checkServerConfig } from "./check-server-config.ts";
import { type ClientSdk, loadSdk } from "./load-sdk.ts";
import { type ManagedServer, type ManagedServerOptions, manageServer } from "./managed-server.ts";
import type { McpRoot } from "./mcp-root.ts";
import { type McpToolSourceOptions, mcpToolSource } from "./mcp-tool-source.ts";
import type { McpCallOptions, McpNotice, McpRequestOptions, McpToolResult, McpTransport } from "./mcp-transport.ts";
import { type InProcessServer, openTransport } from "./open-transport.ts";
import { type RegisteredServer, registeredServer } from "./registered-server.ts";
import { createSdkTransport } from "./sdk-transport.ts";
import { checkMethodOptions, type MethodOptions } from "../../json/check-method-options.ts";

const MANAGER_METHODS: MethodOptions<McpLifecycleManager> = {
  register: [2, { reconnectDelayMs: true }, "throws"],
  login: [1, { signal: true }],
  callTool: [3, { signal: true, meta: true, owner: true, onProgress: true, ask: true, infer: true }],
  toolSource: [0, { name: true, resources: true, startupWaitMs: true, pins: true, servers: true }, "throws"],
};

export interface McpManagerOptions {
  readonly servers?: { readonly [name: string]: McpServerConfig } | undefined;
  /** Servers in this process, for configurations of type `in-process`: tools, or what makes a server object of the SDK. */
  readonly inProcess?: { readonly [name: string]: InProcessServer } | undefined;
  /** Runs the program of a server where no run brings an environment for it. Default: as a process group of this machine, without isolation. */
  readonly exec?: ((server: string) => Executor) | undefined;
  /** Where programs start, and what servers are told they may work with. Default: the working directory of this process. */
  readonly cwd?: string | undefined;
  /** Folders that servers are told of. Default: `cwd`, where it is given. */
  readonly roots?: readonly McpRoot[] | undefined;
  /** Answers what servers ask a person. Default: the person of the run in whose call it is asked; outside of runs all is cancelled. */
  readonly onElicitation?: OnElicitation | undefined;
  /** Told what servers say of themselves without being asked. */
  readonly onNotice?: ((server: string, notice: McpNotice) => void) | undefined;
  /** Where `${NAME}` in configurations comes from. Default: the environment of this process. */
  readonly variables?: { readonly [name: string]: string | undefined } | undefined;
  /** Resolves `authToken`, and what is secret of `oauth`, where these are references, such as `env:TOKEN`. */
  readonly secrets?: SecretResolver | undefined;
  /** Has a person log in, during `login` and at no other time: `loopbackAuthorization`, or a way of your own. */
  readonly authorize?: McpAuthorize | undefined;
  /** Keeps what people logged in with: `openMcpTokenStore`. Default: it is kept as long as this manager. */
  readonly tokens?: McpTokenStore | undefined;
  /** Default: the platform's. */
  readonly fetch?: Fetch | undefined;
  /** Resolves the names of authorization servers, to see whether they are on the public internet. Default: as programs of this machine do. */
  readonly resolveHost?: ResolveHost | undefined;
  /** The SDK. Default: the installed package `@modelcontextprotocol/client`, loaded when the first server is connected. */
  readonly loadSdk?: (() => Promise<unknown>) | undefined;
  readonly clock?: Clock | undefined;
  /** From 0 up to 1, for waits that are not all alike. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
}

export interface RegisterOptions {
  /** Before the first attempt to connect again; each after that waits twice as long, up to a minute. Default 1000. */
  readonly reconnectDelayMs?: number | undefined;
}

/** Several servers by name. Disposed of, none of them is left. */
export interface McpLifecycleManager extends AsyncDisposable {
  /** @throws AgentError where there is one of that name, or the configuration is wrong */
  register(name: string, server: McpServerConfig | McpTransport, options?: RegisterOptions): void;
  /** Connects all that are enabled. Resolves when each is connected or has failed; `allStatus` tells which, and they are tried again later. */
  startAll(): Promise<void>;
  stopAll(): Promise<void>;
  enable(name: string): Promise<void>;
  disable(name: string): Promise<void>;
  /**
   * Has a person log in to a server over HTTP, by `authorize`; a server that is let in without one is let in. Resolves when there is a token, which is used
   * and renewed from then on. @throws McpError; of kind `unauthorized` its `failure.reason` says why not
   */
  login(name: string, options?: McpRequestOptions): Promise<void>;
  /** Forgets what somebody logged in with. */
  logout(name: string): Promise<void>;
  status(name: string): McpServerStatus;
  allStatus(): readonly McpServerStatus[];
  listTools(server: string): Promise<readonly McpToolDescriptor[]>;
  /** Connects first where it has to. */
  callTool(server: string, tool: string, input?: JsonObject, options?: McpCallOptions): Promise<McpToolResult>;
  /** The connection itself, for resources, prompts and completions: see `McpTransport`. @throws McpError where the server is disabled */
  transport(server: string): McpTransport;
  /** Asks every so often whether servers answer, and connects those again that don't. @returns ends it */
  monitor(intervalMs?: number): () => void;
  /** Their tools, for agents. Runs use the connections of this manager; servers that are programs run in the environment of a run that has one. */
  toolSource(options?: McpToolSourceOptions): ToolSource;
}

type ManageSettings = Pick<ManagedServerOptions, "settings" | "isEnabled" | "reconnectDelayMs" | "tools">;

const DEFAULT_RECONNECT_DELAY_MS = 1000;
const DEFAULT_MONITOR_MS = 30_000;

/**
 * ```ts
 * const servers = createMcpManager({ servers: { files: { type: "stdio", command: "npx", args: ["-y", "some-server", "."] } } });
 * await servers.startAll();
 * const result = await servers.callTool("files", "read_file", { path: "README.md" });
 * ```
 */
export function createMcpManager(options: McpManagerOptions = {}): McpLifecycleManager {
  checkOptionNames("createMcpManager", options, {
    servers: true,
    inProcess: true,
    exec: true,
    cwd: true,
    roots: true,
    onElicitation: true,
    onNotice: true,
    variables: true,
    secrets: true,
    authorize: true,
    tokens: true,
    fetch: true,
    resolveHost: true,
    loadSdk: true,
    clock: true,
    random: true,
  });
  const { servers = {}, inProcess = {}, cwd, onElicitation, onNotice, secrets, fetch = globalThis.fetch } = options;
  const { variables = process.env, clock = systemClock, random = Math.random } = options;
  const { authorize, tokens = createMemoryTokenStore(), resolveHost } = options;
  const roots = options.roots ?? (cwd === undefined ? [] : [{ uri: pathToFileURL(cwd).href }]);
  const load = (): Promise<ClientSdk> => (options.loadSdk === undefined ? loadSdk() : loadSdk(options.loadSdk));
  const registered = new Map<string, RegisteredServer>();
  const onRegister = new Set<(server: RegisteredServer) => void>();
  const background = createBackgroundCalls(clock);

  const authorizationFor = (name: string, server: McpServerConfig | McpTransport): ServerAuthorization | undefined =>
    "type" in server
      ? manageAuthorization(name, server, { load, variables, secrets, store: tokens, fetch: options.fetch, resolve: resolveHost, clock })
      : undefined;
  const transportOf = (name: string, server: McpServerConfig, exec?: Executor, authorization?: ServerAuthorization): McpTransport =>
    createSdkTransport({
      name,
      settings: server,
      load,
      clock,
      onElicitation,
      roots: () => roots,
      logLevel: server.logLevel ?? (onNotice && "info"),
      open: (sdk, onStreamEnd) =>
        openTransport(sdk, name, server, {
          inProcess,
          variables,
          secrets,
          fetch,
          authorization,
          clock,
          exec: exec ?? options.exec?.(name),
          cwd,
          onStreamEnd,
        }),
    });
  const manage = (name: string, transport: McpTransport, settings: ManageSettings): ManagedServer => {
    if (onNotice !== undefined) transport.onNotice((notice) => onNotice(name, notice));
    return manageServer({ name, transport, clock, random, ...settings });
  };
  const find = (name: string): ManagedServer => findRegistered(name).server;
  const findRegistered = (name: string): RegisteredServer => {
    const found = registered.get(name);
    if (found !== undefined) return found;
    const names = [...registered.keys()].join(", ") || "none";
    throw new McpError({ kind: "not-connected", server: name, message: `There is no server "${name}" here; there are: ${names}.` });
  };
  const authorizationOf = (name: string): ServerAuthorization => {
    const { authorization } = findRegistered(name);
    if (authorization !== undefined) return authorization;
    const message = `The server "${name}" takes no logins: it is not reached over HTTP, or has a token in its configuration.`;
    throw new McpError({ kind: "other", message });
  };
  const each = async (work: (server: ManagedServer) => Promise<void>): Promise<void> => {
    await Promise.all([...registered.values()].map((server) => server.each(work)));
  };

  const manager: McpLifecycleManager = {
    register(name, config, given = {}) {
      if (typeof name !== "string" || name === "" || registered.has(name))
        throw new AgentError({
          kind: "invalid-option",
          option: "name",
          message: name === "" ? "A server needs a name." : `There is a server "${name}" already. Give this one another name.`,
        });
      if ("type" in config) checkServerConfig(name, config);
      const { reconnectDelayMs = DEFAULT_RECONNECT_DELAY_MS } = given;
      const authorization = authorizationFor(name, config);
      const own = "type" in config && config.type === "in-process" ? inProcess[config.name] : undefined;
      const tools = typeof own === "object" ? own : undefined;
      const settings = { settings: "type" in config ? config : {}, reconnectDelayMs, tools };
      const added = registeredServer({
        server: manage(name, "type" in config ? transportOf(name, config, undefined, authorization) : config, settings),
        authorization,
        // A program runs where the run is held.
        ...("type" in config &&
          config.type === "stdio" && {
            inside: (exec, isEnabled) => manage(name, transportOf(name, config, exec), { ...settings, isEnabled }),
          }),
      });
      registered.set(name, added);
      for (const listener of [...onRegister]) listener(added);
    },
    startAll: () => each((server) => server.start()),
    stopAll: () => each((server) => server.stop()),
    enable: async (name) => findRegistered(name).each((server) => server.enable()),
    disable: async (name) => findRegistered(name).each((server) => server.disable()),
    async login(name, { signal = new AbortController().signal } = {}) {
      await authorizationOf(name).login(authorize, signal);
      // One that was not let in until now.
      await find(name).check();
    },
    logout: async (name) => authorizationOf(name).logout(),
    status: (name) => findRegistered(name).status(),
    allStatus: () => [...registered.values()].map((server) => server.status()),
    listTools: async (name) => find(name).transport.listTools(),
    callTool: async (name, tool, input = {}, given) => find(name).callTool(tool, input, given),
    transport: (name) => find(name).transport,
    monitor(intervalMs = DEFAULT_MONITOR_MS) {
      let cancel = (): void => {};
      let isOver = false;
      const wait = (): void => {
        cancel = clock.after(
          intervalMs,
          () =>
            void each((server) => server.check().catch(() => {})).then(() => {
              if (!isOver) wait();
            }),
          { keepAlive: false },
        );
      };
      wait();
      return () => {
        isOver = true;
        cancel();
      };
    },
    toolSource: (given) => mcpToolSource({ registered, onRegister, clock, background }, given),
    async [Symbol.asyncDispose]() {
      await each(async (server) => server[Symbol.asyncDispose]());
    },
  };
  for (const [name, config] of Object.entries(servers)) manager.register(name, config);
  return checkMethodOptions("mcp", manager, MANAGER_METHODS);
}
