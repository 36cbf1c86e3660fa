/** Without the beginning of a UTF-8 character whose rest was cut off. */
export function wholeEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.byteLength); back++) {
    const byte = bytes[bytes.byteLength - back] as number;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.subarray(0, bytes.byteLength - back) : bytes;
  }
  return bytes;
}

/** Without the end of a UTF-8 character whose beginning was cut off. */
export function wholeStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < Math.min(3, bytes.byteLength) && ((bytes[start] as number) & 0xc0) === 0x80) start++;
  return bytes.subarray(start);
}
