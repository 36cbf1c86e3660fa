import type { JsonObject, JsonValue } from "@keelson/protocol";
import { copyJson } from "../../json/copy-json.ts";
import { diffJson, type JsonPatch } from "../../json/json-patch.ts";
import { plainJson } from "../../json/plain-json.ts";
import type { Plugin, PluginState } from "./define-plugin.ts";

/** One callback's view of its plugin's state, and of no other's. Copied when it is first looked at; void once the callback is done. */
export class StateDraft<S> {
  readonly state: PluginState<S>;
  readonly #plugin: Plugin<S>;
  readonly #agentState: JsonObject;
  #value: S | undefined;
  #isTouched = false;
  #isOver = false;

  constructor(plugin: Plugin<S>, agentState: JsonObject) {
    this.#plugin = plugin;
    this.#agentState = agentState;
    // With nothing to be found on the way up from it.
    this.state = Reflect.construct(Handle, [this], Object) as PluginState<S>;
  }

  get value(): S {
    this.#checkOpen();
    if (!this.#isTouched) this.#value = copyJson(storedState(this.#plugin.key, this.#agentState) ?? this.#plugin.initialState) as S;
    this.#isTouched = true;
    return this.#value as S;
  }

  set value(value: S) {
    this.#checkOpen();
    this.#isTouched = true;
    this.#value = value;
  }

  #checkOpen(): void {
    if (this.#isOver)
      throw new TypeError(`the state of plugin "${this.#plugin.key}" was used after the callback that it was given to was done`);
  }

  /**
   * What the callback made of the state, as a patch of the agent's; nothing where it changed nothing.
   * @throws TypeError when that is no JSON
   */
  finish(): JsonPatch | undefined {
    this.#isOver = true;
    if (!this.#isTouched) return undefined;
    const { key } = this.#plugin;
    const after = plainJson(this.#value);
    const before = storedState(key, this.#agentState);
    if (before === undefined) return additionOf(this.#agentState, { [key]: after });
    const patch = diffJson(before, after, `/plugins/${key}`);
    return patch.length === 0 ? undefined : patch;
  }
}

/** What a callback holds of a draft. A class, since a literal with accessors gets a hidden class of its own each time. */
class Handle<S> implements PluginState<S> {
  declare value: S;
  readonly #draft: StateDraft<S>;

  static readonly #value: PropertyDescriptor & ThisType<Handle<unknown>> = {
    enumerable: true,
    get() {
      return this.#draft.value;
    },
    set(value: unknown) {
      this.#draft.value = value;
    },
  };

  constructor(draft: StateDraft<S>) {
    this.#draft = draft;
    Object.defineProperty(this, "value", Handle.#value);
    Object.preventExtensions(this);
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
