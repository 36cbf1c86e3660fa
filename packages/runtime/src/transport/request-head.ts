import type { TransportRequest } from "./transport.ts";

/** RFC 9110, 5.6.2. */
const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
// oxlint-disable-next-line no-control-regex
const NOT_IN_A_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
/** What says where the request ends, or that it is more than a request. */
const OWN_FIELDS: ReadonlySet<string> = new Set(["content-length", "transfer-encoding", "expect", "upgrade", "trailer", "te"]);

export interface RequestHead {
  /** One character a byte. */
  readonly text: string;
  /** Whether the headers say that the connection carries no other request. */
  readonly last: boolean;
}

/** Headers as lines, and what they say of the connection. */
interface HeaderLines {
  readonly text: string;
  readonly ownHost: boolean;
  readonly ownConnection: boolean;
  readonly last: boolean;
}

/** By headers that are frozen: those of a provider are the same with each request. */
const frozen = new WeakMap<object, HeaderLines>();

/**
 * The head of a request of HTTP/1.1. `host` and `connection` may be set by the headers.
 * @throws Error for headers that HTTP cannot carry, or that would say otherwise where the body ends.
 */
export function requestHead({ method, headers }: TransportRequest, path: string, host: string, bodyBytes: number): RequestHead {
  let lines = frozen.get(headers);
  if (lines === undefined) {
    lines = headerLines(headers);
    if (Object.isFrozen(headers)) frozen.set(headers, lines);
  }
  let text = `${method} ${path} HTTP/1.1\r\n${lines.text}`;
  if (!lines.ownHost) text += `host: ${host}\r\n`;
  if (!lines.ownConnection) text += "connection: keep-alive\r\n";
  // A GET without a body has no length (RFC 9110, 8.6).
  if (method !== "GET" || bodyBytes > 0) text += `content-length: ${bodyBytes}\r\n`;
  return { text: `${text}\r\n`, last: lines.last };
}

function headerLines(headers: TransportRequest["headers"]): HeaderLines {
  let text = "";
  let ownHost = false;
  let ownConnection = false;
  let last = false;
  for (const name in headers) {
    const value = headers[name];
    if (!FIELD_NAME.test(name)) throw new Error(`${JSON.stringify(name)} is no name of a header`);
    // Of an environment variable that is not set, for example: "undefined" must not go out in its place.
    if (value === undefined) throw new Error(`the header ${name} has no value`);
    if (NOT_IN_A_VALUE.test(value)) throw new Error(`the header ${name} holds characters that HTTP does not allow`);
    const lower = name.toLowerCase();
    if (OWN_FIELDS.has(lower)) throw new Error(`the header ${name} is set by the transport: leave it out`);
    ownHost ||= lower === "host";
    if (lower === "connection") {
      ownConnection = true;
      last ||= value.toLowerCase().includes("close");
    }
    text += `${name}: ${value}\r\n`;
  }
  return { text, ownHost, ownConnection, last };
}
