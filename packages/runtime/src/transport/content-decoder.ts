import type { Transform } from "node:stream";

/** What undoes the compression of an answer; `undefined` when it has none that we know. We ask for none; some gateways compress all the same. */
export function contentDecoder(encoding: string): Transform | undefined {
  if (encoding === "" || encoding === "identity") return undefined;
  const zlib = process.getBuiltinModule("node:zlib");
  switch (encoding.toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return zlib.createGunzip();
    case "deflate":
      return zlib.createInflate();
    case "br":
      return zlib.createBrotliDecompress();
    case "zstd":
      return zlib.createZstdDecompress();
    default:
      return undefined;
  }
}
