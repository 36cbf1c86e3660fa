import type { Directive } from "./effect.ts";
import type { SerializedError } from "./errors/keelson-error.ts";
import type { JsonObject } from "./json.ts";
import type { Message } from "./content.ts";

/** What prompt middleware passes on before an agent runs. */
export interface MiddlewareInput {
  readonly messages: readonly Message[];
  readonly context: JsonObject;
}

export type MiddlewareResult =
  | { readonly type: "continue"; readonly input: MiddlewareInput }
  /** Nothing after it runs, the agent included. */
  | { readonly type: "terminate"; readonly reason: string };

/** What a filter does with a directive: a suppressed one is dropped silently, a rejected one is an error. */
export type FilterDecision =
  | { readonly type: "pass"; readonly directive: Directive }
  | { readonly type: "suppress"; readonly by: string }
  | { readonly type: "reject"; readonly by: string; readonly error: SerializedError };

/** A new state and what the runtime is asked to do about it. */
export interface DirectiveResult<State> {
  readonly state: State;
  readonly directives: readonly Directive[];
}
