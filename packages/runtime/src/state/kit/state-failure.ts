import { LogError, StateError } from "@keelson/protocol";

/** What a failure of the database, which is shared with logs, means to a caller of a state store. */
export function toStateError(cause: unknown): unknown {
  if (!LogError.is(cause)) return cause;
  const { failure, message } = cause as LogError;
  switch (failure.kind) {
    case "full":
    case "corrupt":
    case "unavailable":
    case "closed":
    case "invalid-input":
      return new StateError({ kind: failure.kind, message }, { cause });
    default:
      return new StateError({ kind: "other", message }, { cause });
  }
}
