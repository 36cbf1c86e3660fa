import type { IncomingMessage } from "node:http";
import { Refusal } from "./refusal.ts";

// Those of one hop (RFC 9110, 7.6.1), those meant for us, and those that are said anew.
const HOP_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

export interface ForwardedHeaders {
  [name: string]: string[];
}

/** What a request says to the server beside its framing: nothing that is of the way to us alone, or that its `Connection` header names as such. */
export function headersOfRequest(request: IncomingMessage): ForwardedHeaders {
  const named = (request.headers.connection ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  return kept(request, (name) => !HOP_HEADERS.has(name) && !named.includes(name) && name !== "content-length");
}

export function headersOfResponse(response: IncomingMessage): ForwardedHeaders {
  return kept(response, (name) => !HOP_HEADERS.has(name));
}

/**
 * How the end of the body is told: said anew to the server, whatever the client's `Connection` header would have us leave out. A body
 * without it would be read as another request, to a host of the client's choice. @returns `undefined` where there is no body
 */
export function framingOf({ headers }: IncomingMessage): ForwardedHeaders | undefined {
  const coding = headers["transfer-encoding"];
  const length = headers["content-length"];
  if (coding === undefined) return length === undefined ? undefined : { "content-length": [length] };
  if (coding.toLowerCase() !== "chunked") throw new Refusal(`a body in the coding ${coding} can't be sent on`);
  return { "transfer-encoding": ["chunked"] };
}

function kept({ headersDistinct }: IncomingMessage, isKept: (name: string) => boolean): ForwardedHeaders {
  const headers: ForwardedHeaders = {};
  for (const [name, values] of Object.entries(headersDistinct)) if (values !== undefined && isKept(name)) headers[name] = values;
  return headers;
}
