import type { JsonObject, JsonValue } from "@keelson/protocol";
import { copyJson } from "../../json/copy-json.ts";
import { diffJson, type JsonPatch } from "../../json/json-patch.ts";
import { plainJson } from "../../json/plain-json.ts";
import type { Plugin, PluginState } from "./define-plugin.ts";

/** One callback's view of its plugin's state, and of no other's. Copied when it is first looked at; void once the callback is done. */
export class StateDraft<S> {
  readonly state: PluginState<S>;
  #value: S | undefined;
  #isTouched = false;
  #isOver = false;

  constructor(plugin: Plugin<S>, agentState: JsonObject) {
    const read = (): S => {
      this.#checkOpen(plugin.key);
      if (!this.#isTouched) this.#value = copyJson(storedState(plugin.key, agentState) ?? plugin.initialState) as S;
      this.#isTouched = true;
      return this.#value as S;
    };
    const write = (value: S): void => {
      this.#checkOpen(plugin.key);
      this.#isTouched = true;
      this.#value = value;
    };
    this.state = Object.freeze({
      get value(): S {
        return read();
      },
      set value(value: S) {
        write(value);
      },
    });
  }

  #checkOpen(key: string): void {
    if (this.#isOver) throw new TypeError(`the state of plugin "${key}" was used after the callback that it was given to was done`);
  }

  /**
   * What the callback made of the state, as a patch of the agent's; nothing where it changed nothing.
   * @throws TypeError when that is no JSON
   */
  finish(plugin: Plugin<S>, agentState: JsonObject): JsonPatch | undefined {
    this.#isOver = true;
    if (!this.#isTouched) return undefined;
    const after = plainJson(this.#value);
    const before = storedState(plugin.key, agentState);
    if (before === undefined) return additionOf(agentState, { [plugin.key]: after });
    const patch = diffJson(before, after, `/plugins/${plugin.key}`);
    if (patch.length === 0) return undefined;
    return patch;
  }
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
