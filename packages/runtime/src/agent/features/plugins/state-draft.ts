import type { JsonObject, JsonValue } from "@keelson/protocol";
import { copyJson } from "../../../json/copy-json.ts";
import { diffJson, type JsonPatch } from "../../../json/json-patch.ts";
import { plainJson } from "../../../json/plain-json.ts";
import type { Plugin, PluginState } from "../../definition/plugins/define-plugin.ts";

/** One callback's view of its plugin's state, and of no other's. */
export interface StateDraft<S> {
  /** What the callback is given: a copy of the state, void once the callback is done. */
  readonly state: PluginState<S>;
  /**
   * Ends it. @returns what the callback made of the state, as a patch of the agent's; nothing where it changed nothing
   * @throws TypeError when that is no JSON
   */
  finish(): JsonPatch | undefined;
}

export function draftState<S>(plugin: Plugin<S>, agentState: JsonObject): StateDraft<S> {
  const stored = storedState(plugin.key, agentState);
  /** Absent where the callback did not look at it. */
  let copy: { value: S } | undefined;
  let isOver = false;
  const opened = (): { value: S } => {
    if (isOver) throw usedTooLate(plugin);
    return (copy ??= { value: copyJson(stored === undefined ? plugin.initialState : (stored as S)) });
  };
  const state: PluginState<S> = {
    get value() {
      return opened().value;
    },
    set value(value) {
      opened().value = value;
    },
  };
  return {
    state: Object.preventExtensions(state),
    finish() {
      isOver = true;
      return copy && patchOf(plugin.key, agentState, stored, plainJson(copy.value));
    },
  };
}

function patchOf(key: string, agentState: JsonObject, stored: JsonValue | undefined, value: JsonValue): JsonPatch | undefined {
  if (stored === undefined) return additionOf(agentState, { [key]: value });
  const patch = diffJson(stored, value, `/plugins/${key}`);
  return patch.length === 0 ? undefined : patch;
}

function usedTooLate({ key }: Plugin): TypeError {
  return new TypeError(`the state of plugin "${key}" was used after the callback that it was given to was done`);
}

/** The state of one plugin in that of the agent. */
export function storedState(key: string, { plugins }: JsonObject): JsonValue | undefined {
  return plugins !== undefined && Object.hasOwn(plugins as JsonObject, key) ? (plugins as JsonObject)[key] : undefined;
}

/** Adds states of plugins that the agent's state doesn't have. */
export function additionOf(agentState: JsonObject, states: JsonObject): JsonPatch {
  if (agentState["plugins"] === undefined) return [{ op: "add", path: "/plugins", value: states }];
  return Object.entries(states).map(([key, value]) => ({ op: "add", path: `/plugins/${key}`, value: value as JsonValue }));
}
