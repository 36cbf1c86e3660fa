import type { JsonObject, JsonValue } from "@keelson/protocol";
import { copyJson } from "../../json/copy-json.ts";
import { diffJson, type JsonPatch } from "../../json/json-patch.ts";
import { plainJson } from "../../json/plain-json.ts";
import type { Plugin, PluginState } from "./define-plugin.ts";

/** One callback's view of its plugin's state, and of no other's. Copied when it is first looked at; void once the callback is done. */
export interface StateDraft<S> {
  readonly state: PluginState<S>;
  /**
   * What the callback made of the state, as a patch of the agent's; nothing where it changed nothing.
   * @throws TypeError when that is no JSON
   */
  finish(): JsonPatch | undefined;
}

export function stateDraft<S>({ key, initialState }: Plugin<S>, agentState: JsonObject): StateDraft<S> {
  let draft: S | undefined;
  let isTouched = false;
  let isOver = false;
  const checkOpen = (): void => {
    if (isOver) throw new TypeError(`the state of plugin "${key}" was used after the callback that it was given to was done`);
  };
  const state: PluginState<S> = Object.freeze({
    get value(): S {
      checkOpen();
      if (!isTouched) draft = copyJson(storedState(key, agentState) ?? initialState) as S;
      isTouched = true;
      return draft as S;
    },
    set value(value: S) {
      checkOpen();
      isTouched = true;
      draft = value;
    },
  });
  const finish = (): JsonPatch | undefined => {
    isOver = true;
    if (!isTouched) return undefined;
    const after = plainJson(draft);
    const before = storedState(key, agentState);
    if (before === undefined) return additionOf(agentState, { [key]: after });
    const patch = diffJson(before, after, `/plugins/${key}`);
    return patch.length === 0 ? undefined : patch;
  };
  return { state, finish };
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
