import { isDispatchTool } from "../../tools/index.ts";
import type { Tool } from "@keelson/protocol";
import { invalidOption, shown } from "./invalid-option.ts";
import { nodeCrypto } from "../../platform/node-crypto.ts";
import { agentTool } from "./agent-tool.ts";
import { loadServerSdk, type ServerSdk } from "./load-server-sdk.ts";
import type { ServedAgent, ServedPrompt, ServedResource, ServedResourceTemplate, McpServerOptions } from "./mcp-server-options.ts";
import { Rounds } from "./rounds.ts";
import { servedTool, type ServedTool } from "./served-tool.ts";
import { sessionResources } from "./session-resources.ts";

/** What changed, for those who listen. */
export type ServerChange = { readonly type: "tools" | "resources" | "prompts" } | { readonly type: "resource"; readonly uri: string };

/** A server as whoever serves it sees it: what it offers, what it does, and how what changes gets out. */
export interface ServerCore {
  readonly options: McpServerOptions;
  readonly pageSize: number;
  readonly waitMs: number;
  tools(): ReadonlyMap<string, ServedTool>;
  resources(): readonly (ServedResource | ServedResourceTemplate)[];
  prompts(): readonly ServedPrompt[];
  setTools(tools: readonly Tool[]): void;
  setResources(resources: readonly (ServedResource | ServedResourceTemplate)[]): void;
  setPrompts(prompts: readonly ServedPrompt[]): void;
  /** Fires when the server is closed: tools are to finish soon. */
  readonly stopping: AbortSignal;
  /** Takes a place among the calls at work. @returns how to give it back, or `undefined` where there is none */
  takePlace(): (() => void) | undefined;
  onChange(listener: (change: ServerChange) => void): () => void;
  change(change: ServerChange): void;
  onError(error: Error): void;
  /** The SDK and what needs it, loaded the first time. */
  load(): Promise<{ readonly sdk: ServerSdk; readonly rounds: Rounds }>;
  close(): Promise<void>;
  /** Called when the server is closed. */
  onClose(close: () => Promise<void>): () => void;
}

const DEFAULTS = { pageSize: 100, maxConcurrentCalls: 64, approvalWaitMs: 300_000 };

export function createServerCore(options: McpServerOptions): ServerCore {
  const {
    pageSize = DEFAULTS.pageSize,
    maxConcurrentCalls = DEFAULTS.maxConcurrentCalls,
    approvalWaitMs = DEFAULTS.approvalWaitMs,
  } = options;
  const stopping = new AbortController();
  const listeners = new Set<(change: ServerChange) => void>();
  const closers = new Set<() => Promise<void>>();
  const key = options.stateKey ?? nodeCrypto().randomBytes(32);
  const agents = agentsOf(options);
  const sessionParts = options.sessions === undefined ? [] : sessionResources(options.sessions, options);
  let loaded: Promise<{ readonly sdk: ServerSdk; readonly rounds: Rounds }> | undefined;
  let tools = toolsOf(options.tools ?? [], agents, options, stopping.signal);
  let resources = resourcesOf(options.resources ?? [], sessionParts);
  let prompts = promptsOf(options.prompts ?? []);
  let atWork = 0;

  const core: ServerCore = {
    options,
    pageSize,
    waitMs: approvalWaitMs,
    stopping: stopping.signal,
    tools: () => tools,
    resources: () => resources,
    prompts: () => prompts,
    setTools(next) {
      tools = toolsOf(next, agents, options, stopping.signal);
      core.change({ type: "tools" });
    },
    setResources(next) {
      resources = resourcesOf(next, sessionParts);
      core.change({ type: "resources" });
    },
    setPrompts(next) {
      prompts = promptsOf(next);
      core.change({ type: "prompts" });
    },
    takePlace() {
      if (atWork >= maxConcurrentCalls) return undefined;
      atWork += 1;
      return () => void (atWork -= 1);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    change(change) {
      for (const listener of listeners) listener(change);
    },
    onError(error) {
      options.onError?.(error);
    },
    load() {
      loaded ??= loadServerSdk().then((sdk) => ({ sdk, rounds: new Rounds(sdk, { key, waitMs: approvalWaitMs }) }));
      // One that is installed meanwhile is found.
      loaded.catch(() => (loaded = undefined));
      return loaded;
    },
    async close() {
      stopping.abort(new Error("The server is being closed."));
      await Promise.all([...closers].map((close) => close()));
      closers.clear();
      if (loaded !== undefined) (await loaded).rounds.close();
    },
    onClose(close) {
      closers.add(close);
      return () => closers.delete(close);
    },
  };
  return core;
}

/** @throws AgentError of kind `invalid-option` for agents that nothing runs */
function agentsOf(options: McpServerOptions): readonly ServedTool[] {
  const { agents = [], runner } = options;
  if (agents.length === 0) return [];
  if (runner === undefined) throw invalidOption("runner", "is missing: agents are run by one, as in createRunner({ agent })");
  return agents.map((given) => {
    const entry: ServedAgent = "agent" in given ? given : { agent: given };
    if (typeof entry.agent?.name !== "string") throw invalidOption("agents", `must be made by createAgent, not ${shown(entry.agent)}`);
    return agentTool(entry, runner, options);
  });
}

function toolsOf(
  tools: readonly Tool[],
  agents: readonly ServedTool[],
  options: McpServerOptions,
  stopping: AbortSignal,
): ReadonlyMap<string, ServedTool> {
  const served = new Map<string, ServedTool>();
  const add = (tool: ServedTool): void => {
    const { name } = tool.listed;
    if (served.has(name)) throw invalidOption("tools", `has two tools of the name ${JSON.stringify(name)}: rename one`);
    served.set(name, tool);
  };
  for (const tool of tools) {
    if (typeof tool?.execute !== "function" || typeof tool.parse !== "function")
      throw invalidOption("tools", `must be made by defineTool, not ${shown(tool)}`);
    if (isDispatchTool(tool))
      throw invalidOption("tools", `has "${tool.name}", which starts an agent and works in runs alone: offer its agent in \`agents\``);
    add(servedTool(tool, options, stopping));
  }
  agents.forEach(add);
  return served;
}

function resourcesOf(
  given: readonly (ServedResource | ServedResourceTemplate)[],
  sessions: readonly ServedResourceTemplate[],
): readonly (ServedResource | ServedResourceTemplate)[] {
  const all = [...given, ...sessions];
  const addresses = new Set<string>();
  for (const resource of all) {
    const address = "uri" in resource ? resource.uri : resource.uriTemplate;
    if (typeof address !== "string" || typeof resource.read !== "function")
      throw invalidOption("resources", `must have \`uri\` or \`uriTemplate\`, and \`read\`, which ${shown(resource)} has not`);
    if (addresses.has(address)) throw invalidOption("resources", `has ${JSON.stringify(address)} twice: leave one out`);
    addresses.add(address);
  }
  return all;
}

function promptsOf(prompts: readonly ServedPrompt[]): readonly ServedPrompt[] {
  const names = new Set<string>();
  for (const prompt of prompts) {
    if (typeof prompt?.name !== "string" || typeof prompt.get !== "function")
      throw invalidOption("prompts", `must have \`name\` and \`get\`, which ${shown(prompt)} has not`);
    if (names.has(prompt.name)) throw invalidOption("prompts", `has two prompts of the name ${JSON.stringify(prompt.name)}: rename one`);
    names.add(prompt.name);
  }
  return prompts;
}
