/** What the first bytes of a connection say of the server that is meant. */
export type ServerName =
  | { readonly type: "more" }
  | { readonly type: "not-tls" }
  /** `name` is absent where the client names nobody, as with an address. */
  | { readonly type: "tls"; readonly name: string | undefined };

const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME_EXTENSION = 0;
const HOST_NAME = 0;
// A ClientHello is a few hundred bytes, with post-quantum keys about two thousand.
const MAX_HELLO_BYTES = 32 * 1024;

/** Reads the server name (SNI) of a TLS ClientHello (RFC 8446, RFC 6066), which may come in several records. */
export function readServerName(bytes: Buffer): ServerName {
  // Put together once, not for each record: there may be thousands, of one byte each.
  const pieces: Buffer[] = [];
  let size = 0;
  let whole: number | undefined;
  for (let at = 0; ;) {
    if (bytes.length > at && bytes[at] !== HANDSHAKE) return { type: "not-tls" };
    if (bytes.length < at + 5) return bytes.length > 1 && bytes[1] !== 3 ? { type: "not-tls" } : { type: "more" };
    const length = bytes.readUInt16BE(at + 3);
    if (bytes[at + 1] !== 3 || length === 0) return { type: "not-tls" };
    const piece = bytes.subarray(at + 5, at + 5 + length);
    if (size === 0 && piece.length > 0 && piece[0] !== CLIENT_HELLO) return { type: "not-tls" };
    pieces.push(piece);
    size += piece.length;
    if (whole === undefined && size >= 4) whole = Buffer.concat(pieces).readUIntBE(1, 3) + 4;
    if (whole !== undefined) {
      if (whole > MAX_HELLO_BYTES) return { type: "not-tls" };
      if (size >= whole) return readHello(Buffer.concat(pieces).subarray(4, whole));
    }
    at += 5 + length;
    if (bytes.length < at) return { type: "more" };
  }
}

function readHello(hello: Buffer): ServerName {
  try {
    let at = 34; // version and random
    at += 1 + hello.readUInt8(at); // session id
    at += 2 + hello.readUInt16BE(at); // cipher suites
    at += 1 + hello.readUInt8(at); // compression methods
    if (at === hello.length) return { type: "tls", name: undefined };
    const end = at + 2 + hello.readUInt16BE(at);
    at += 2;
    if (end !== hello.length) return { type: "not-tls" };
    let name: string | undefined;
    while (at < end) {
      const extension = hello.readUInt16BE(at);
      const body = hello.subarray(at + 4, at + 4 + hello.readUInt16BE(at + 2));
      at += 4 + body.length;
      if (extension !== SERVER_NAME_EXTENSION) continue;
      // More than one name, or one of another type, could be read in two ways.
      const size = body.readUInt16BE(3);
      if (name !== undefined || body.readUInt8(2) !== HOST_NAME || body.length !== size + 5) return { type: "not-tls" };
      name = body.toString("latin1", 5);
    }
    return { type: "tls", name };
  } catch {
    // A length that leads past the end.
    return { type: "not-tls" };
  }
}
