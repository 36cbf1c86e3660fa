import {
  type EffortLevel,
  type JsonObject,
  type JsonValue,
  PERMISSION_MODES,
  type PermissionMode,
  type PermissionRule,
  usd,
} from "@keelson/protocol";
import type { AgentOptions } from "../options/command-line.ts";
import { EFFORT_LEVELS } from "./effort-levels.ts";

/**
 * What a run was started with, kept in its `run-start` event: so that whoever goes on with it (after a decision, a crash, on
 * another day) works in the same folder with the same model, permissions and limits.
 */
export interface Launch {
  readonly cwd: string;
  readonly agent: AgentOptions & { readonly model: string };
  /** True if its commands run in a sandbox. Absent: not yet found out. */
  readonly inSandbox?: boolean;
  /** The date, system, folders and git at the start of the session. Absent: it began with an earlier version. */
  readonly facts?: string;
  /** True if a person at a terminal started it: then the agent presents its plans. */
  readonly presentsPlans?: true;
  /** The user of the system that started it: a claim, which decides whether `-c` takes the session. */
  readonly user?: string;
}

/** The mark in the log of a sandbox that held because nothing switched it off. A version that does not know the word takes it for `true`. */
const BY_DEFAULT = "default";

export function launchToMetadata({ cwd, agent, inSandbox, facts, presentsPlans, user }: Launch): JsonObject {
  const { rules, ...options } = agent;
  const held = { ...(inSandbox !== undefined && { inSandbox }), ...(inSandbox && agent.sandbox === undefined && { sandbox: BY_DEFAULT }) };
  const begun = { ...(facts !== undefined && { facts }), ...(presentsPlans && { presentsPlans }), ...(user !== undefined && { user }) };
  return { cwd, launch: { ...options, ...held, ...begun, rules: rules.map(({ pattern, behavior }) => ({ pattern, behavior })) } };
}

/** Reads it back. Fields that are missing or that this version does not understand are left to their defaults; `undefined` without a folder. */
export function launchFromMetadata(
  metadata: JsonObject | undefined,
): (Pick<Launch, "cwd" | "inSandbox" | "facts" | "presentsPlans" | "user"> & { readonly agent: AgentOptions }) | undefined {
  const cwd = metadata?.["cwd"];
  if (typeof cwd !== "string") return undefined;
  const given = objectOf(metadata?.["launch"]);
  const { model, fallbackModel, effort, folders, permissionMode, policy, sandbox, mcp, mcpConfig, maxTurns, maxCost, timeoutMs, rules } =
    given;
  const inSandbox = sandbox === BY_DEFAULT || given["inSandbox"];
  return {
    cwd,
    ...(typeof inSandbox === "boolean" && { inSandbox }),
    ...(typeof given["facts"] === "string" && { facts: given["facts"] }),
    ...(given["presentsPlans"] === true && { presentsPlans: true as const }),
    ...(typeof given["user"] === "string" && { user: given["user"] }),
    agent: {
      rules: Array.isArray(rules) ? (rules as readonly JsonValue[]).flatMap(ruleOf) : [],
      ...(typeof model === "string" && { model }),
      ...(typeof fallbackModel === "string" && { fallbackModel }),
      ...((EFFORT_LEVELS as readonly unknown[]).includes(effort) && { effort: effort as EffortLevel }),
      ...(Array.isArray(folders) && { folders: (folders as readonly JsonValue[]).filter((folder) => typeof folder === "string") }),
      ...((PERMISSION_MODES as readonly unknown[]).includes(permissionMode) && { permissionMode: permissionMode as PermissionMode }),
      ...(typeof given["appendSystemPrompt"] === "string" && { appendSystemPrompt: given["appendSystemPrompt"] }),
      ...(given["outputSchema"] !== undefined && { outputSchema: objectOf(given["outputSchema"]) }),
      ...(typeof policy === "string" && { policy }),
      ...(sandbox === false && { sandbox }),
      // Any other value was meant to confine, not to open.
      ...(![undefined, false, BY_DEFAULT].includes(sandbox as string) && { sandbox: true }),
      ...(mcp !== undefined && mcp !== true && { mcp: false }),
      ...(typeof mcpConfig === "string" && { mcpConfig }),
      ...(typeof maxTurns === "number" && { maxTurns }),
      ...(typeof maxCost === "string" && { maxCost: usd(maxCost) }),
      ...(typeof timeoutMs === "number" && { timeoutMs }),
    },
  };
}

/** The options of a run that goes on: what it was started with, changed by what is given now. Rules add up. */
export function mergedOptions(recorded: AgentOptions, given: AgentOptions): AgentOptions {
  return { ...recorded, ...given, rules: [...recorded.rules, ...given.rules] };
}

function ruleOf(value: JsonValue): PermissionRule[] {
  const { pattern, behavior } = objectOf(value);
  return typeof pattern === "string" && (behavior === "allow" || behavior === "deny" || behavior === "ask") ? [{ pattern, behavior }] : [];
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
