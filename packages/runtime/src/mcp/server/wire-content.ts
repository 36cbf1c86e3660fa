import type { Content, FilePart, JsonValue } from "@keelson/protocol";

/** A part of a result or a message as the protocol has it. */
export type WireContent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "audio"; readonly data: string; readonly mimeType: string }
  | { readonly type: "resource_link"; readonly uri: string; readonly name: string; readonly mimeType: string }
  | {
      readonly type: "resource";
      readonly resource: { readonly uri: string; readonly mimeType: string } & ({ readonly text: string } | { readonly blob: string });
    };

/** Parts of which the protocol knows nothing are told as what they say in words. */
export function wireContent(part: Content): WireContent {
  switch (part.type) {
    case "text":
    case "thinking":
    case "refusal":
    case "server-tool":
      return { type: "text", text: part.text };
    case "image":
      if (part.data !== undefined) return { type: "image", data: part.data, mimeType: part.mediaType };
      return part.url === undefined ? keptElsewhere("image") : link(part.url, part.url, part.mediaType);
    case "file":
      return fileContent(part);
    case "tool-call":
    case "tool-result":
    case "other":
      return { type: "text", text: JSON.stringify(part) };
  }
}

/** A file whose name is an address is that resource; audio is a part of its own. */
function fileContent({ mediaType, name, data, url }: FilePart): WireContent {
  if (data === undefined) return url === undefined ? keptElsewhere("file") : link(url, name ?? url, mediaType);
  if (mediaType.startsWith("audio/")) return { type: "audio", data, mimeType: mediaType };
  const uri = name === undefined ? "keelson://file" : URL.canParse(name) ? name : `keelson://file/${encodeURIComponent(name)}`;
  const content = isText(mediaType) ? { text: Buffer.from(data, "base64").toString("utf8") } : { blob: data };
  return { type: "resource", resource: { uri, mimeType: mediaType, ...content } };
}

function link(uri: string, name: string, mimeType: string): WireContent {
  return { type: "resource_link", uri, name, mimeType };
}

/** Bytes that lie in a store of sessions, which clients don't reach. */
function keptElsewhere(what: string): WireContent {
  return { type: "text", text: `[The ${what} is kept in a blob store and was not sent.]` };
}

export function isText(mediaType: string): boolean {
  return mediaType.startsWith("text/") || /^application\/(?:[\w.+-]+\+)?(?:json|xml|yaml|javascript)\b/.test(mediaType);
}

/** The output of a call, as a model would read it. */
export function textOfValue(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
