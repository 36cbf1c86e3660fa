import type { Transform } from "node:stream";
import type { Zlib } from "node:zlib";

/** What undoes the compression of a response; `undefined` when it has none that we know. We ask for none; some gateways compress all the same. */
export function contentDecoder(encoding: string): Transform | undefined {
  if (encoding === "" || encoding === "identity") return undefined;
  const zlib = process.getBuiltinModule("node:zlib");
  switch (encoding.toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return takingNothing(zlib.createGunzip());
    case "deflate":
      return takingNothing(zlib.createInflate());
    case "br":
      return takingNothing(zlib.createBrotliDecompress());
    case "zstd":
      return takingNothing(zlib.createZstdDecompress());
    default:
      return undefined;
  }
}

/** No decoder takes nothing for a whole, yet a response without a body may name an encoding. */
function takingNothing(decoder: Transform & Zlib): Transform {
  const flush = decoder._flush.bind(decoder);
  decoder._flush = (done) => (decoder.bytesWritten === 0 ? done() : flush(done));
  return decoder;
}
