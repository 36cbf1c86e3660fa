/** What the first bytes of an image say. */
export interface ImageFacts {
  readonly mediaType: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  /** Pixels; absent where they stand further back than what was looked at. */
  readonly width?: number;
  readonly height?: number;
}

/** Base64 of so much is looked at: frames of a JPEG stand behind its previews and profiles. */
const HEAD_CHARACTERS = 512 * 1024;

/** Reads format and size off an image in base64. Nothing for what is no PNG, JPEG, GIF or WebP, or breaks off before its size. */
export function readImage(base64: string): ImageFacts | undefined {
  const bytes = Buffer.from(base64.slice(0, HEAD_CHARACTERS), "base64");
  return readPng(bytes) ?? readGif(bytes) ?? readWebp(bytes) ?? readJpeg(bytes, base64.length > HEAD_CHARACTERS);
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** The signature, then the chunk `IHDR`. */
function readPng(bytes: Buffer): ImageFacts | undefined {
  if (bytes.length < 33 || !bytes.subarray(0, 8).equals(PNG) || bytes.toString("latin1", 12, 16) !== "IHDR") return undefined;
  return sized("image/png", bytes.readUInt32BE(16), bytes.readUInt32BE(20));
}

function readGif(bytes: Buffer): ImageFacts | undefined {
  if (bytes.length < 13 || !/^GIF8[79]a$/.test(bytes.toString("latin1", 0, 6))) return undefined;
  return sized("image/gif", bytes.readUInt16LE(6), bytes.readUInt16LE(8));
}

/** A RIFF file whose first chunk is lossy, lossless, or the extended header. */
function readWebp(bytes: Buffer): ImageFacts | undefined {
  if (bytes.length < 30 || bytes.toString("latin1", 0, 4) !== "RIFF" || bytes.toString("latin1", 8, 12) !== "WEBP") return undefined;
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8 ":
      return sized("image/webp", bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff);
    case "VP8L": {
      const packed = bytes.readUInt32LE(21);
      return sized("image/webp", (packed & 0x3fff) + 1, ((packed >>> 14) & 0x3fff) + 1);
    }
    case "VP8X":
      return sized("image/webp", bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1);
    default:
      return undefined;
  }
}

/** Segments from the start of the image to the one that begins a frame. */
function readJpeg(bytes: Buffer, goesOn: boolean): ImageFacts | undefined {
  if (bytes.length < 4 || bytes[0] !== 0xff || bytes[1] !== 0xd8 || bytes[2] !== 0xff) return undefined;
  for (let at = 2; at + 9 < bytes.length;) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1] as number;
    // Fill bytes, and markers without a length.
    if (marker === 0xff) at += 1;
    else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) at += 2;
    else if (isFrame(marker)) return sized("image/jpeg", bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5));
    else if (marker === 0xd9 || marker === 0xda) return undefined;
    else at += 2 + bytes.readUInt16BE(at + 2);
  }
  return goesOn ? { mediaType: "image/jpeg" } : undefined;
}

/** Of any coding; `c4`, `c8` and `cc` among them are tables. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function sized(mediaType: ImageFacts["mediaType"], width: number, height: number): ImageFacts | undefined {
  return width > 0 && height > 0 ? { mediaType, width, height } : undefined;
}
