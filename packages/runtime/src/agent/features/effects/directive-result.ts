import type { Directive, DirectiveResult } from "@keelson/protocol";

/** A new state and nothing to do about it. */
export function stateOnly<State>(state: State): DirectiveResult<State> {
  return { state, directives: NONE };
}
const NONE: readonly Directive[] = [];

export function withDirective<State>(state: State, directive: Directive): DirectiveResult<State> {
  return { state, directives: [directive] };
}

export function withDirectives<State>(state: State, directives: readonly Directive[]): DirectiveResult<State> {
  return { state, directives: [...directives] };
}
