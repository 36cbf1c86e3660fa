import { findInexactIntegers, mayHoldInexactInteger, quoteIntegers } from "../json/index.ts";

const SCHEMAS: ReadonlySet<string | number> = new Set(["inputSchema", "outputSchema", "requestedSchema"]);
const BOUNDS: ReadonlySet<string | number | undefined> = new Set([
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
]);

/**
 * The JSON text of a message of the protocol, whose integers that doubles do not keep are texts. Ids of requests stay numbers, and so do
 * the bounds in schemas: generators write the limits of 64-bit integers there, and a validator takes nothing but numbers.
 */
export function exactMessage(text: string): string {
  if (!mayHoldInexactInteger(text)) return text;
  try {
    JSON.parse(text);
  } catch {
    return text; // the reader of the message refuses it
  }
  return quoteIntegers(
    text,
    findInexactIntegers(text).filter(({ path }) => !isId(path) && !isBound(path)),
  );
}

/** True for the id of a message, alone or in a list of messages. */
function isId(path: readonly (string | number)[]): boolean {
  const [first, second, ...rest] = path;
  return first === "id" ? second === undefined : typeof first === "number" && second === "id" && rest.length === 0;
}

function isBound(path: readonly (string | number)[]): boolean {
  return BOUNDS.has(path.at(-1)) && path.some((step) => SCHEMAS.has(step));
}

/** Rewrites a body by {@link exactMessage}: one message, or the events of a stream, each as soon as it is whole. */
export function exactMessages(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const encoder = new TextEncoder();
  let open = "";
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      open += decoder.decode(chunk, { stream: true });
      if (!isStream) return;
      const end = lastEventEnd(open);
      if (end === 0) return;
      const events = open.slice(0, end);
      open = open.slice(end);
      controller.enqueue(encoder.encode(mayHoldInexactInteger(events) ? events.split(EVENT_END).map(exactEvent).join("") : events));
    },
    flush(controller) {
      open += decoder.decode();
      if (open !== "") controller.enqueue(encoder.encode(isStream ? exactEvent(open) : exactMessage(open)));
    },
  });
}

/** The empty lines between events, kept as pieces of their own by `split`. */
const EVENT_END = /(\r\n\r\n|\n\n|\r\r)/;

function lastEventEnd(text: string): number {
  const end = Math.max(text.lastIndexOf("\n\n"), text.lastIndexOf("\r\r"));
  const long = text.lastIndexOf("\r\n\r\n");
  return Math.max(end < 0 ? 0 : end + 2, long < 0 ? 0 : long + 4);
}

/** An event whose data, in however many lines, is a message. */
function exactEvent(event: string): string {
  const lines = event.split(/\r\n|\n|\r/);
  const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice("data:".length).replace(/^ /, ""));
  const message = data.join("\n");
  const exact = exactMessage(message);
  if (exact === message) return event;
  const others = lines.filter((line) => !line.startsWith("data:"));
  return [...others.filter((line) => line !== ""), ...exact.split("\n").map((line) => `data: ${line}`)].join("\n");
}
