import { type Scope, StateError } from "@keelson/protocol";

/**
 * The name of a scope within a store: `global`, `session/s1`, `custom/team/7`. No two scopes share one, and none is the beginning of another
 * followed by a slash.
 * @throws StateError `invalid-input`
 */
export function scopeName(scope: Scope): string {
  switch (scope.type) {
    case "operator":
    case "session":
    case "workflow":
      return `${scope.type}/${part(scope.id, `The id of a scope of type "${scope.type}"`)}`;
    case "global":
      return "global";
    case "custom":
      return `custom/${part(scope.namespace, "The namespace of a scope")}/${part(scope.id, `The id of a scope of type "custom"`)}`;
    default:
      throw new StateError({
        kind: "invalid-input",
        message: `There is no scope ${JSON.stringify(scope)}: its type must be operator, session, workflow, global or custom.`,
      });
  }
}

function part(name: unknown, what: string): string {
  if (typeof name === "string" && name.length > 0 && name.isWellFormed() && !name.includes("\0")) return encodeURIComponent(name);
  throw new StateError({
    kind: "invalid-input",
    message: `${what} must be a well-formed string, not empty and without NUL; it is ${typeof name === "string" ? JSON.stringify(name) : typeof name}.`,
  });
}
