import type {
  CompactionPolicy,
  DirectiveFilter,
  EffortLevel,
  JsonObject,
  JsonValue,
  Message,
  ModelFailure,
  NeedsContext,
  OperatorConfig,
  PermissionPolicy,
  Provider,
  SandboxConfig,
  SignalRoute,
  ThinkingConfig,
  Tool,
  ToolSource,
  Usage,
  Usd,
} from "@keelson/protocol";
import type { InferenceSettings } from "../../context/compile-request.ts";
import type { Rule } from "../../context/rule.ts";
import type { JsonSchema, Schema } from "../../schema/schema.ts";
import type { ToolDefinition } from "../../tools/tool-definition.ts";
import type { ToolSet } from "../../tools/tool-registry.ts";
import type { CompactionOptions } from "./compaction/compaction-options.ts";
import type { HookAgentOptions } from "./hooks/hook-agent-options.ts";
import type { AgentMiddleware, MiddlewareAgentOptions } from "./middleware/agent-middleware.ts";
import type { OutputForm } from "./output/output-form.ts";
import type { OutputModeOption } from "./output/output-mode.ts";
import type { PluginAgentOptions } from "./plugins/plugin-agent-options.ts";
import type { RunContext } from "./run-context.ts";
import type { DeferToolsOptions } from "./tool-sources/defer-tools.ts";
import type { SignalHandler } from "./signals/signal-handler.ts";
import type { ExecutionStrategy } from "./strategies/strategy.ts";
import type { AgentLimits } from "./limits.ts";
import type { AgentContextRequest } from "./tool-context/context-factory.ts";

/** `provider/model` as the runner's registry knows it, or a provider that serves one model (as in tests). */
export type ModelChoice = string | Provider;

/** What becomes of a failed model call. Without a response there is nothing to go on from: that would be to ask again, which is `retry`. */
export type ModelErrorAction =
  | { readonly type: "retry" }
  | { readonly type: "abort"; readonly message: string }
  | { readonly type: "switch-model"; readonly model: string };

/** Shortens a conversation that no longer fits. Its result is recorded; it replaces the messages. */
export type Compact = (
  conversation: readonly { readonly message: Message; readonly policy: CompactionPolicy }[],
  options: { readonly signal: AbortSignal; readonly model: string; readonly usage: Usage },
) => Promise<{ readonly messages: readonly Message[]; readonly summary: string }>;

/** `Context` is the context that its tools and agents may need; `unknown`: none. */
export interface AgentOptions<Out = undefined, Context = unknown> extends HookAgentOptions, PluginAgentOptions, MiddlewareAgentOptions {
  readonly name: string;
  readonly description?: string | undefined;
  readonly model: ModelChoice;
  /** Used when the model is rate-limited, unavailable or out of retries. */
  readonly fallbackModel?: ModelChoice | undefined;
  /** The system prompt. A function is called once for each run; its text is recorded. */
  readonly instructions?: string | ((context: RunContext) => string | Promise<string>) | undefined;
  /** Appended to the instructions, or put in their place. */
  readonly systemPrompt?: { readonly type: "append" | "replace"; readonly content: string } | undefined;
  readonly tools?: readonly Tool<unknown, Context>[] | undefined;
  /**
   * Where more tools come from while it runs, such as the servers of `createMcpManager`. What they offer counts from the next turn on, under the same
   * permissions. Names must be unique; children have the sources of their own agents.
   */
  readonly toolSources?: readonly ToolSource[] | undefined;
  /**
   * Names of servers of the Model Context Protocol whose tools it has, as the manager knows them that the runner is given: `createRunner({ mcp })`. The
   * first turn waits for them, for 10 seconds at most.
   */
  readonly mcpServers?: readonly string[] | undefined;
  /**
   * Whether tools of sources are told to the model by name alone where there are many, with a tool `search_tools` that gives their schemas. Default: over 40
   * tools, or 64 KiB of their schemas. Not under a strategy with states, which names its tools.
   */
  readonly deferTools?: DeferToolsOptions | false | undefined;
  /**
   * Agents that this one may hand tasks to, each as a tool of the name it has here. For limits of its own, or work beside the turns,
   * put `agent.asTool({ … })` among `tools`.
   */
  readonly agents?: Agents<Context> | undefined;
  /** When given, only these tools may be called. */
  readonly allowedTools?: readonly string[] | undefined;
  /** Taken out of `tools` by name. */
  readonly excludedTools?: readonly string[] | undefined;
  readonly limits?: AgentLimits | undefined;
  readonly permissions?: { readonly [Part in keyof PermissionPolicy]?: PermissionPolicy[Part] | undefined } | undefined;
  /**
   * What commands and files of its tools, and of its children's, are held to; the runner's `environment` does that. Without one that can, no
   * run of it begins. What a child says of it can only take more away.
   */
  readonly sandbox?: SandboxConfig | undefined;
  readonly rules?: readonly Rule[] | undefined;
  /** What every directive passes, in this order, before it is declared; each may change, suppress or (by throwing) reject it. Pure. */
  readonly directiveFilters?: readonly DirectiveFilter[] | undefined;
  /**
   * Asked about every failed model call, but not about one that was interrupted, nor where a conversation that was too long was shortened. To return nothing
   * leaves it to the runner: retries, the fallback model, the end.
   */
  readonly onModelError?:
    | ((failure: ModelFailure, context: RunContext) => ModelErrorAction | undefined | Promise<ModelErrorAction | undefined>)
    | undefined;
  /** Default `end`: a response cut at its token limit ends the run (`max-output`). `continue` asks for the rest. */
  readonly onMaxTokens?: "end" | "continue" | undefined;
  readonly compact?: Compact | undefined;
  /** When and how a conversation is shortened before it does not fit. Default: only where it does not fit, or on request. */
  readonly compaction?: CompactionOptions | undefined;
  /** What may be done when: in a state of `fsmStrategy` the model has that state's tools and no others. Default: everything, always. */
  readonly strategy?: ExecutionStrategy | undefined;
  /** What becomes of signals that the strategy has no route for. */
  readonly signalRoutes?: readonly SignalRoute[] | undefined;
  /** Handlers of signals whose route has the action `custom`, by name. */
  readonly onSignal?: { readonly [name: string]: SignalHandler } | undefined;
  /**
   * What the run has to come to, in the response that ends it: `outcome.output` has its type. A plain JSON Schema gives a
   * `JsonValue`. A response that does not match goes back to the model, at most `limits.maxRepairs` times.
   */
  readonly output?: Schema<Out> | undefined;
  /** How `output` is asked for and read. Default `tool`. */
  readonly outputMode?: OutputModeOption | undefined;
  readonly effort?: EffortLevel | undefined;
  readonly thinking?: ThinkingConfig | undefined;
  readonly settings?: Omit<InferenceSettings, "effort" | "thinking" | "output"> | undefined;
  /** Whether repeated identical calls are refused. Default true. */
  readonly loopGuard?: boolean | undefined;
  /** Working directory: where the programs of its tools and hooks start, and told to `instructions`, `onModelError` and tools as `cwd`. */
  readonly cwd?: string | undefined;
  /** Reports model calls, the verdict of each gate, retries and batches as `status` events. */
  readonly debug?: boolean | undefined;
  /** Appends the same to this file, line by line. */
  readonly debugFile?: string | undefined;
  /** Of every run of this agent; a run's own goes on top. */
  readonly metadata?: JsonObject | undefined;
}

/** Everything but `output` and `context`, which decide the type and stay as they are. */
export type AgentChanges = {
  readonly [Option in Exclude<keyof AgentOptions<never>, "output">]?: AgentOptions<never, never>[Option] | undefined;
};

/** Options of an agent whose output is told as a plain JSON Schema. */
export interface JsonAgentOptions<Context = unknown> extends Omit<AgentOptions<JsonValue, Context>, "output"> {
  readonly output: JsonSchema & { readonly schema?: never };
}

/**
 * A definition: data and functions, bound to stores, models and files by a runner. `Context` is the context that its tools and children need;
 * `unknown`: none.
 */
export interface Agent<out Out = unknown, in Context = unknown> {
  readonly name: string;
  readonly description: string;
  readonly options: Omit<AgentOptions<never, Context>, "output">;
  readonly output?: Schema<Out> | JsonSchema;
  /** How the output is asked for and read, where there is one. */
  readonly outputForm?: OutputForm;
  /** What a model may call, after `excludedTools`. */
  readonly tools: ToolSet;
  /** Present if a tool of it, or of its children, needs a context that the runner must make. */
  readonly needsContext?: NeedsContext<Context>;
  /** Makes the context of its tools, if it has a `context` of its own. */
  readonly context?: (request: AgentContextRequest<never>) => unknown;
  /** Its prompt middleware, frozen. */
  readonly middleware?: AgentMiddleware;
  /** Changes when anything that a run depends on as data changes: prompts, tools, limits, rules by name. */
  readonly digest: string;
  readonly subAgents: readonly string[];
  /** A copy with these options changed. */
  with(changes: AgentChanges): Agent<Out, Context>;
  /** Offers it to other agents as a tool that takes a task. */
  asTool(options?: AgentToolOptions): AgentTool<Context>;
}

/** How an agent is offered to another as a tool. */
export interface AgentToolOptions {
  /** Default: the agent's name. */
  readonly name?: string | undefined;
  /** Default: the agent's. */
  readonly description?: string | undefined;
  /** Of each call, on top of the agent's own limits. */
  readonly limits?:
    | {
        readonly maxTurns?: number | undefined;
        readonly maxCost?: Usd | string | number | undefined;
        readonly maxDurationMs?: number | undefined;
      }
    | undefined;
  /** Instead of the agent's. */
  readonly model?: string | undefined;
  /** When given, it may call only these of its tools. */
  readonly allowedTools?: readonly string[] | undefined;
  /** Appended to its instructions. */
  readonly systemAddendum?: string | undefined;
  /**
   * The call has its result at once, and the agent works beside the turns; what it comes to follows as a user message. Default
   * false: the output of the agent is the result of the call.
   */
  readonly background?: boolean | undefined;
  /** True, or a function that returns true, if a person must allow a call before the agent starts. Default false. */
  readonly needsApproval?: ToolDefinition<{ readonly task: string }>["needsApproval"] | undefined;
}

/** A tool that a runner starts as a child run of an agent, with its own log. */
export interface AgentTool<Context = unknown> extends Tool<{ readonly task: string }, Context> {
  readonly dispatch: { readonly operator: string; readonly config?: OperatorConfig };
  readonly agent: Agent<unknown, Context>;
  readonly background?: true;
}

/** Agents by name that need this context, or less. */
export type Agents<Context = unknown> = { readonly [name: string]: AgentNeeding<Context> };

/** Any agent, whatever its output and the context that it needs. */
export type AnyAgent = AgentNeeding<never>;

/** Any agent that needs this context, or less. */
export type AgentNeeding<Context> = Agent<never, Context> | Agent<unknown, Context> | Agent<undefined, Context>;
