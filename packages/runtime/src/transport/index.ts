export { type BodyFormat, sniffFormat } from "./body-format.ts";
export { type ByteStream, MAX_WHOLE_BODY_BYTES, readTextUpTo, readWholeText } from "./byte-stream.ts";
export { type Redact, redactor } from "./redactor.ts";
export { type TlsOptions } from "./tls-options.ts";
export { JsonSequenceReader } from "./json-sequence-reader.ts";
export { MAX_EVENT_LENGTH, type SseHandler, SseReader } from "./sse-reader.ts";
export {
  type FetchLike,
  type RequestOrigin,
  type Transport,
  type TransportAnswer,
  type TransportOptions,
  type TransportRequest,
  createTransport,
} from "./transport.ts";
export { neverConnected } from "./transport-failure.ts";
export { Utf8Reader } from "./utf8-reader.ts";
export { DEFAULT_TIMEOUTS, type Timeouts } from "./timeouts.ts";
export { WatchedAbort } from "./watched-abort.ts";
