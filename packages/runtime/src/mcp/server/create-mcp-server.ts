import type { Tool } from "@keelson/protocol";
import { invalidOption, shown } from "./invalid-option.ts";
import { definedOptions } from "../../json/defined-options.ts";
import { checkOptionNames } from "../../json/option-names.ts";
import type { ServedPrompt, ServedResource, ServedResourceTemplate, McpServerOptions } from "./mcp-server-options.ts";
import { createServerCore, type ServerCore } from "./server-core.ts";

/** Tools, agents, sessions, resources and prompts for clients of the Model Context Protocol; `serveMcpStdio` and `serveMcpHttp` serve it. */
export interface McpServer extends AsyncDisposable {
  readonly name: string;
  readonly version: string;
  /** From now on these, beside its agents. Clients that listen are told. */
  setTools(tools: readonly Tool[]): void;
  /** From now on these, beside its sessions. */
  setResources(resources: readonly (ServedResource | ServedResourceTemplate)[]): void;
  setPrompts(prompts: readonly ServedPrompt[]): void;
  /** Tells clients that asked for it that what they read under this address is another now. */
  resourceUpdated(uri: string): void;
  /** Ends all that serves it. */
  close(): Promise<void>;
}

const CORES = new WeakMap<McpServer, ServerCore>();

/**
 * Makes a server of the Model Context Protocol, for its stateless revision of 2026-07-28 and the handshake revisions before it. Nothing is
 * loaded, and nobody served, before `serveMcpStdio` or `serveMcpHttp`.
 *
 * ```ts
 * await serveMcpStdio(createMcpServer({ name: "weather", version: "1.0.0", tools: [weather] }));
 * ```
 * @throws AgentError of kind `invalid-option`
 */
export function createMcpServer(options: McpServerOptions): McpServer {
  checkOptionNames("createMcpServer", options, {
    name: true,
    version: true,
    title: true,
    instructions: true,
    tools: true,
    agents: true,
    runner: true,
    sessions: true,
    mayUseSession: true,
    resources: true,
    prompts: true,
    services: true,
    pageSize: true,
    maxConcurrentCalls: true,
    approvalWaitMs: true,
    stateKey: true,
    onError: true,
  });
  const given: McpServerOptions = definedOptions(options);
  checkText("name", given.name);
  checkText("version", given.version);
  checkCount("pageSize", given.pageSize);
  checkCount("maxConcurrentCalls", given.maxConcurrentCalls);
  checkCount("approvalWaitMs", given.approvalWaitMs);
  const { stateKey } = given;
  if (stateKey !== undefined && (!(stateKey instanceof Uint8Array) || stateKey.length < 32))
    throw invalidOption("stateKey", "must be at least 32 bytes, as of crypto.randomBytes(32)");
  const core = createServerCore(given);
  const server: McpServer = {
    name: given.name,
    version: given.version,
    setTools: (tools) => core.setTools(tools),
    setResources: (resources) => core.setResources(resources),
    setPrompts: (prompts) => core.setPrompts(prompts),
    resourceUpdated: (uri) => core.change({ type: "resource", uri }),
    close: () => core.close(),
    [Symbol.asyncDispose]: () => core.close(),
  };
  CORES.set(server, core);
  return server;
}

/** @throws AgentError of kind `invalid-option` for what `createMcpServer` did not make */
export function serverCore(server: McpServer): ServerCore {
  const core = CORES.get(server);
  if (core === undefined) throw invalidOption("server", `must be made by createMcpServer, not ${shown(server)}`);
  return core;
}

function checkText(option: string, value: unknown): void {
  if (typeof value !== "string" || value.trim() === "") throw invalidOption(option, `must be a text, not ${shown(value)}`);
}

export function checkCount(option: string, value: unknown): void {
  if (value !== undefined && (!Number.isSafeInteger(value) || (value as number) < 1))
    throw invalidOption(option, `must be a whole number from 1 on, not ${shown(value)}`);
}
