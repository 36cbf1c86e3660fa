declare const brand: unique symbol;
/** A string that has been given a meaning. Brands exist for the compiler only: at run time these are plain strings. */
export type Brand<B extends string> = string & { readonly [brand]: B };

export type RunId = Brand<"RunId">;
export type SessionId = Brand<"SessionId">;
export type LogId = Brand<"LogId">;
/** One tool call. Derived from run, turn, model call and index, so that a replay finds the same one. */
export type CallId = Brand<"CallId">;
export type OperatorId = Brand<"OperatorId">;
export type WorkflowId = Brand<"WorkflowId">;
/** The content address of a blob: `sha256:` and 64 hex digits. */
export type Digest = Brand<"Digest">;

/** The log of a session: the only authority on what happened in it. */
export function sessionLog(session: string): LogId {
  return `session/${session}` as LogId;
}

/** Where others write to a session: decisions, steering, signals, stop and abort. */
export function inboxLog(session: string): LogId {
  return `session/${session}/inbox` as LogId;
}

/** Snapshots of what a session's log folds to. Nobody needs them: without them the log is read from its beginning. */
export function snapshotLog(session: string): LogId {
  return `session/${session}/snapshots` as LogId;
}

/** The session whose log this is; nothing for its inbox, its snapshots, and other logs. */
export function sessionOf(log: LogId | string): SessionId | undefined {
  const id = log.startsWith("session/") ? log.slice("session/".length) : "";
  return id === "" || id.includes("/") ? undefined : (id as SessionId);
}
