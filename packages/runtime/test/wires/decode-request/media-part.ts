import type { Content } from "@keelson/protocol";

/** An image or a file at an address, which may be a data URL. */
export function mediaPart(type: "image" | "file", address: string, otherwise: string): Content {
  const [, mediaType, data] = /^data:([^;,]+)[^,]*,(.*)$/s.exec(address) ?? [];
  return { type, mediaType: mediaType ?? otherwise, ...(data === undefined ? { url: address } : { data: restoredData(data) }) };
}

/** Long base64 is left out of the recordings, but not its length. */
export function restoredData(data: string): string {
  return data.replace(/<base64 omitted: (\d+) chars>/, (_marker, length: string) => "A".repeat(Number(length)));
}
