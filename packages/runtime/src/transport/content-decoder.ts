import type { Transform } from "node:stream";
import type { Zlib } from "node:zlib";

/** Bytes that a response may unpack to in any case, and how many for each byte that came behind that. Event streams pack 100 to 1 at most. */
const FREE_BYTES = 64 * 1024 * 1024;
const MAX_RATIO = 250;

/** What undoes the compression of a response; `undefined` when it has none that we know. We ask for none; some gateways compress all the same. */
export function contentDecoder(encoding: string): Transform | undefined {
  if (encoding === "" || encoding === "identity") return undefined;
  const zlib = process.getBuiltinModule("node:zlib");
  switch (encoding.toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return bounded(zlib.createGunzip());
    case "deflate":
      return bounded(zlib.createInflate());
    case "br":
      return bounded(zlib.createBrotliDecompress());
    case "zstd":
      return bounded(zlib.createZstdDecompress());
    default:
      return undefined;
  }
}

/** Fails with a response that unpacks to far more than any model writes: only a fault or an attack does. */
function bounded(decoder: Transform & Zlib): Transform {
  const push = decoder.push.bind(decoder);
  let bytes = 0;
  decoder.push = (chunk: Uint8Array | null, ...more: []): boolean => {
    bytes += chunk?.length ?? 0;
    if (bytes <= FREE_BYTES || bytes <= MAX_RATIO * decoder.bytesWritten) return push(chunk, ...more);
    decoder.destroy(new Error(`the response unpacks to more than ${MAX_RATIO} times its size`));
    return false;
  };
  return takingNothing(decoder);
}

/** No decoder takes nothing for a whole, yet a response without a body may name an encoding. */
function takingNothing(decoder: Transform & Zlib): Transform {
  const flush = decoder._flush.bind(decoder);
  decoder._flush = (done) => (decoder.bytesWritten === 0 ? done() : flush(done));
  return decoder;
}
