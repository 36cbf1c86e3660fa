import {
  DecodeError,
  emittedEventCodec,
  isEmittedType,
  isEventType,
  EMITTED_TYPES,
  type Directive,
  type DurableEvent,
  type EmittedEvent,
  type JsonObject,
  type LogRecord,
} from "@keelson/protocol";

/** What a record is for watchers and plugins, without its place. */
export interface ShownEvent {
  readonly type: DurableEvent["type"] | EmittedEvent["type"];
  readonly data: JsonObject;
}

/**
 * The event that a record is, of a type that is shown at all. A directive to emit is the event that it was given. Where a log
 * holds one that would be refused today, or one of a program's own type, it stays a `directive`.
 */
export function shownEvent({ type, data }: Pick<LogRecord, "type" | "data">): ShownEvent {
  const event = type === "directive" ? emittedBy(data["directive"] as Directive) : undefined;
  if (event === undefined || !isEmittedType(event["type"]) || problemOfEmitted(event) !== undefined)
    return { type: type as ShownEvent["type"], data };
  // Where it stands and whose it is follows from the record.
  const { type: emitted, seq: _seq, at: _at, after: _after, attempt: _attempt, n: _n, runId: _runId, path: _path, ...own } = event;
  return { type: emitted as EmittedEvent["type"], data: own };
}

/** Of large records that stand elsewhere nothing is known here: they are what their type says. */
function emittedBy(directive: Directive | undefined): JsonObject | undefined {
  return directive?.type === "emit" ? directive.event : undefined;
}

/** Why a program can't emit this event; nothing where it can. */
export function problemOfEmitted(event: JsonObject): string | undefined {
  const { type } = event;
  if (!isEmittedType(type))
    return isEventType(type)
      ? `events of type "${type}" are for the runtime to write. A program can emit ${EMITTED_TYPES.join(", ")}, and types of its own`
      : undefined;
  try {
    emittedEventCodec.decode(event);
    return undefined;
  } catch (error) {
    if (DecodeError.is(error)) return `it is no event of type "${type}" (${error.message})`;
    throw error;
  }
}
