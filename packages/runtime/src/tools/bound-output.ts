import type { BlobStore, Content, Digest, JsonValue, Tool, ToolContent, ToolOutput } from "@keelson/protocol";
import { truncateText } from "../json/index.ts";
import { describeThrown } from "./describe-thrown.ts";
import { isToolContent } from "./json-output.ts";

export interface OutputBounds {
  /** Where the whole of a truncated output is kept. Without it, it is not kept. */
  readonly blobs?: Pick<BlobStore, "put"> | undefined;
  /** A larger output is not kept whole; default 256 MiB. */
  readonly maxBlobBytes?: number | undefined;
}

export interface BoundedOutput {
  /** At most the tool's `maxOutputBytes` of text. It shares nothing with what the tool returned. */
  readonly output: JsonValue;
  /** The whole, when `output` was truncated: text as it is, all else as JSON. */
  readonly blob?: Digest;
  /** Why the whole could not be kept. */
  readonly warning?: string;
}

const DEFAULT_MAX_BLOB_BYTES = 256 * 1024 * 1024;

/**
 * Cuts an output, JSON that was checked, down to what the model may see. A large one is written out once, as the blob.
 * @throws RangeError when it is too large to be written out at all
 */
export async function boundOutput(output: ToolOutput, tool: Pick<Tool, "maxOutputBytes">, bounds: OutputBounds): Promise<BoundedOutput> {
  if (isToolContent(output)) return await boundContent(output, tool.maxOutputBytes, bounds);
  // Half of a surrogate pair is no character: vendors refuse the whole request for it.
  const text = typeof output === "string" ? output.toWellFormed() : JSON.stringify(output);
  const { text: shown, truncated } = truncateText(text, tool.maxOutputBytes);
  if (truncated) return { output: shown, ...(await keepWhole(text, bounds)) };
  return { output: typeof output === "string" ? text : (JSON.parse(text) as JsonValue) };
}

async function boundContent({ content }: ToolContent, maxBytes: number, bounds: OutputBounds): Promise<BoundedOutput> {
  const sizes = content.map((part) => (part.type === "text" ? Buffer.byteLength(part.text) : 0));
  const share = shareOf(sizes, maxBytes);
  const shown = content.map((part, index) => copyPart(part, (sizes[index] ?? 0) > share ? share : undefined));
  const output = { type: "content", content: shown };
  return sizes.every((size) => size <= share)
    ? { output }
    : { output, ...(await keepWhole(JSON.stringify({ type: "content", content }), bounds)) };
}

/** The longest a text may be so that all together fit: only the largest are cut. */
function shareOf(sizes: readonly number[], maxBytes: number): number {
  const ascending = sizes.filter((size) => size > 0).sort((left, right) => left - right);
  let left = maxBytes;
  for (const [index, size] of ascending.entries()) {
    const fair = Math.floor(left / (ascending.length - index));
    if (size > fair) return fair;
    left -= size;
  }
  return maxBytes;
}

/** What a tool may say of a part; vendors' own data comes from vendors. */
function copyPart(part: Content, maxBytes: number | undefined): Content {
  if (part.type === "text")
    return { type: "text", text: maxBytes === undefined ? part.text.toWellFormed() : truncateText(part.text, maxBytes).text };
  if (part.type !== "image" && part.type !== "file") return part;
  const { type, mediaType, data, url, blob } = part;
  const source = { mediaType, ...(data !== undefined && { data }), ...(url !== undefined && { url }), ...(blob !== undefined && { blob }) };
  return type === "image" ? { type, ...source } : { type, ...source, ...(part.name !== undefined && { name: part.name }) };
}

async function keepWhole(
  text: string,
  { blobs, maxBlobBytes = DEFAULT_MAX_BLOB_BYTES }: OutputBounds,
): Promise<{ readonly blob?: Digest; readonly warning?: string }> {
  if (blobs === undefined) return {};
  const size = Buffer.byteLength(text);
  if (size > maxBlobBytes) return { warning: `The whole output of ${size} bytes was not kept: maxBlobBytes is ${maxBlobBytes}` };
  try {
    return { blob: await blobs.put(Buffer.from(text)) };
  } catch (error) {
    // The tool did run; losing the rest of its output must not look as if it had not.
    return { warning: `The whole output of ${size} bytes could not be kept: ${describeThrown(error)}` };
  }
}
