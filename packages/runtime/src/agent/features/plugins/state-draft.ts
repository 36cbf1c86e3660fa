import type { JsonObject, JsonValue } from "@keelson/protocol";
import { copyJson } from "../../../json/copy-json.ts";
import { diffJson, type JsonPatch } from "../../../json/json-patch.ts";
import { plainJson } from "../../../json/plain-json.ts";
import type { Plugin, PluginState } from "../../definition/plugins/define-plugin.ts";

/**
 * One callback's view of its plugin's state, and of no other's: what the callback is given. The state is copied when it is first
 * looked at, and is void once the callback is done. A class, since a literal with accessors gets a hidden class of its own each time.
 */
export class StateDraft<S> implements PluginState<S> {
  declare value: S;
  readonly #plugin: Plugin<S>;
  readonly #agentState: JsonObject;
  readonly #stored: JsonValue | undefined;
  #value: S | undefined;
  #isTouched = false;
  #isOver = false;

  static readonly #accessors: PropertyDescriptor & ThisType<StateDraft<unknown>> = {
    enumerable: true,
    get() {
      if (this.#isOver) throw usedTooLate(this.#plugin);
      if (!this.#isTouched) this.#value = copyJson(this.#stored === undefined ? this.#plugin.initialState : this.#stored);
      this.#isTouched = true;
      return this.#value;
    },
    set(value: unknown) {
      if (this.#isOver) throw usedTooLate(this.#plugin);
      this.#isTouched = true;
      this.#value = value;
    },
  };

  private constructor(plugin: Plugin<S>, agentState: JsonObject) {
    this.#plugin = plugin;
    this.#agentState = agentState;
    this.#stored = storedState(plugin.key, agentState);
    Object.defineProperty(this, "value", StateDraft.#accessors);
    Object.preventExtensions(this);
  }

  /** With nothing to be found on the way up from it. */
  static open<S>(plugin: Plugin<S>, agentState: JsonObject): StateDraft<S> {
    return Reflect.construct(StateDraft, [plugin, agentState], Object) as StateDraft<S>;
  }

  /**
   * What the callback made of the state, as a patch of the agent's; nothing where it changed nothing.
   * @throws TypeError when that is no JSON
   */
  static finish(draft: StateDraft<unknown>): JsonPatch | undefined {
    draft.#isOver = true;
    if (!draft.#isTouched) return undefined;
    const agentState = draft.#agentState;
    const { key } = draft.#plugin;
    const value = plainJson(draft.#value);
    if (draft.#stored === undefined) return additionOf(agentState, { [key]: value });
    const patch = diffJson(draft.#stored, value, `/plugins/${key}`);
    return patch.length === 0 ? undefined : patch;
  }
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
