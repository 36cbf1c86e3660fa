import { type JsonObject, type JsonValue, PERMISSION_MODES, type PermissionMode, type PermissionRule, usd } from "@keelson/protocol";
import type { AgentOptions } from "../options/command-line.ts";

/**
 * What a run was started with, kept in its `run-start` event: so that whoever goes on with it (after a decision, a crash, on
 * another day) works in the same folder with the same model, permissions and limits.
 */
export interface Launch {
  readonly cwd: string;
  readonly agent: AgentOptions & { readonly model: string };
}

export function launchToMetadata({ cwd, agent }: Launch): JsonObject {
  const { rules, ...options } = agent;
  return { cwd, launch: { ...options, rules: rules.map(({ pattern, behavior }) => ({ pattern, behavior })) } };
}

/** Reads it back. Fields that are missing or that this version does not understand are left to their defaults; `undefined` without a folder. */
export function launchFromMetadata(metadata: JsonObject | undefined): { readonly cwd: string; readonly agent: AgentOptions } | undefined {
  const cwd = metadata?.["cwd"];
  if (typeof cwd !== "string") return undefined;
  const given = objectOf(metadata?.["launch"]);
  const { model, fallbackModel, permissionMode, policy, sandbox, mcp, mcpConfig, maxTurns, maxCost, timeoutMs, rules } = given;
  return {
    cwd,
    agent: {
      rules: Array.isArray(rules) ? (rules as readonly JsonValue[]).flatMap(ruleOf) : [],
      ...(typeof model === "string" && { model }),
      ...(typeof fallbackModel === "string" && { fallbackModel }),
      ...((PERMISSION_MODES as readonly unknown[]).includes(permissionMode) && { permissionMode: permissionMode as PermissionMode }),
      ...(typeof policy === "string" && { policy }),
      // Whatever else stands there was meant to confine, not to open.
      ...(sandbox !== undefined && sandbox !== false && { sandbox: true }),
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
