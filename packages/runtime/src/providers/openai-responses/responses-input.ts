import type { Content, FilePart, ImagePart, Message, ToolResultPart } from "@keelson/protocol";
import { isBlank, mediaText, outputParts, outputText, readableText, unresolvedBlob, webAddress, withBytes } from "../history.ts";
import { textOfFile } from "../request-body.ts";
import { fieldsOf, stringOf } from "../wire-decoder.ts";
import { type Echo, echo } from "../wire-type.ts";
import type { ResponsesCallOutput, ResponsesInputPart, ResponsesInputText, ResponsesItem } from "./responses-wire.ts";

export interface ResponsesMessageOptions {
  readonly wire: string;
  readonly provider: string;
}

/** Parts that are items of their own (`mcp_approval_response`, `local_shell_call_output`) stand where the message stands. */
export function messageItems(message: Message, options: ResponsesMessageOptions): readonly ResponsesItem[] {
  if (message.role === "system") {
    const content = message.content
      .map(readableText)
      .filter((text) => text !== "")
      .join("\n");
    return content === "" ? [] : [{ role: "system", content }];
  }
  const parts = message.content.flatMap((part) => userPart(part, options));
  const items: ResponsesItem[] = parts.filter((part): part is Echo => !isInputPart(part));
  const content = parts.filter(isInputPart);
  const only = content.length === 1 ? content[0] : undefined;
  if (content.length > 0) items.push({ role: "user", content: only?.type === "input_text" ? only.text : content });
  return items;
}

function isInputPart(part: ResponsesInputPart | Echo): part is ResponsesInputPart {
  return stringOf(fieldsOf(part)?.["type"]).startsWith("input_");
}

/** Text alone as a string, which every server takes; images and files as parts. */
export function resultOutput(result: ToolResultPart, options: ResponsesMessageOptions): ResponsesCallOutput["output"] {
  const parts = outputParts(result.output);
  if (parts === undefined || !parts.some((part) => part.type === "image" || part.type === "file")) return outputText(result.output);
  return parts.flatMap((part) => userPart(part, options)).filter(isInputPart);
}

function userPart(part: Content, options: ResponsesMessageOptions): readonly (ResponsesInputPart | Echo)[] {
  switch (part.type) {
    case "text":
    case "refusal":
      return part.text === "" ? [] : [{ type: "input_text", text: part.text }];
    case "server-tool":
      return isBlank(part.text) ? [] : [{ type: "input_text", text: `[${part.name}] ${part.text}` }];
    case "image":
      return [imagePart(withBytes(part), options)];
    case "file":
      return [filePart(withBytes(part), options)];
    case "other":
      return part.providerData?.wire === options.wire ? [echo(part.raw)] : words(part);
    case "thinking":
    case "tool-call":
    case "tool-result":
      return [];
  }
}

function words(part: Content): readonly ResponsesInputText[] {
  const text = readableText(part);
  return text === "" ? [] : [{ type: "input_text", text }];
}

function imagePart(part: ImagePart, { wire, provider }: ResponsesMessageOptions): ResponsesInputPart {
  const own = part.providerData?.wire === wire ? part.providerData : undefined;
  const detail = own?.["detail"] === undefined ? "auto" : echo(own["detail"]);
  if (own?.["fileId"] !== undefined) return { type: "input_image", file_id: echo(own["fileId"]), detail };
  const url = part.data === undefined ? webAddress(part) : `data:${part.mediaType};base64,${part.data}`;
  if (url !== undefined) return { type: "input_image", image_url: url, detail };
  if (part.url !== undefined) return { type: "input_text", text: mediaText(part) };
  throw unresolvedBlob(part, provider);
}

function filePart(part: FilePart, { wire, provider }: ResponsesMessageOptions): ResponsesInputPart {
  const fileId = part.providerData?.wire === wire ? part.providerData["fileId"] : undefined;
  if (fileId !== undefined) return { type: "input_file", file_id: echo(fileId) };
  const text = textOfFile(part.mediaType, part.data);
  if (text !== undefined) return { type: "input_text", text: part.name === undefined ? text : `${part.name}:\n${text}` };
  const audio = /^audio\/(?:x-)?(wav|mp3|mpeg|\w+)$/.exec(part.mediaType)?.[1];
  if (part.data !== undefined && audio !== undefined)
    return { type: "input_audio", input_audio: { data: part.data, format: audio === "mpeg" ? "mp3" : audio } };
  if (part.data !== undefined)
    return { type: "input_file", filename: part.name ?? "file", file_data: `data:${part.mediaType};base64,${part.data}` };
  const url = webAddress(part);
  if (url !== undefined) return { type: "input_file", file_url: url };
  if (part.url !== undefined) return { type: "input_text", text: mediaText(part) };
  throw unresolvedBlob(part, provider);
}
