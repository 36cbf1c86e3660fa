import { AgentError, type Json, type JsonObject } from "@keelson/protocol";
import { frozenCopy } from "../../../json/copy-json.ts";
import { plainJson } from "../../../json/plain-json.ts";
import { checkStateKey, type PluginStateKey } from "../../definition/plugins/define-plugin.ts";

/** Proof that a state was registered: the key itself, so it costs nothing and may be copied. */
export interface PluginHandle<S> extends PluginStateKey<S> {
  readonly "~registered"?: true;
}

/** A value and all within it, to look at. */
export type Immutable<T> = T extends object ? { readonly [K in keyof T]: Immutable<T[K]> } : T;

/**
 * States by their keys, each with its own type. A state is found by the very object that it was registered with and by nothing
 * else, so whoever does not hold a plugin can't reach its state: not by an equal key, and not by names that objects inherit.
 */
export class PluginStateMap {
  readonly #states = new Map<PluginStateKey<unknown>, unknown>();
  readonly #keys = new Set<string>();

  /** @throws AgentError of kind `invalid-option`, which names the key, when a state is registered under it */
  register<S>(key: PluginStateKey<S>, state: S & Json<S>): PluginHandle<S> {
    this.#admit(key);
    this.#states.set(key, plainJson(state));
    return key;
  }

  /** A copy that can't be changed; nothing when there is no state under this key. */
  get<S>(key: PluginStateKey<S>): Immutable<S> | undefined {
    if (!this.#states.has(key)) return undefined;
    return frozenCopy(this.#states.get(key)) as Immutable<S>;
  }

  /** The state itself, to be changed in place; nothing when there is none under this key. */
  getMut<S>(key: PluginStateKey<S>): S | undefined {
    return this.#states.get(key) as S | undefined;
  }

  /**
   * Puts a state in the place of the one that is there, if any.
   * @throws AgentError of kind `invalid-option` when another object has registered the same key
   */
  insert<S>(key: PluginStateKey<S>, state: S & Json<S>): PluginHandle<S> {
    if (!this.#states.has(key)) this.#admit(key);
    this.#states.set(key, plainJson(state));
    return key;
  }

  /** All states by the texts of their keys, as they are now. */
  serializeAll(): JsonObject {
    return Object.fromEntries([...this.#states].map(([{ key }, state]) => [key, plainJson(state)]));
  }

  #admit({ key }: PluginStateKey<unknown>): void {
    checkStateKey(key);
    if (this.#keys.has(key))
      throw new AgentError({ kind: "invalid-option", option: key, message: `A plugin with the key "${key}" is registered already.` });
    this.#keys.add(key);
  }
}
