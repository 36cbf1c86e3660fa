import type { Content, ImagePart, JsonObject, ProviderData, ServerToolPart } from "@keelson/protocol";
import { type Fields, fieldsOf, stringOf } from "../wire-decoder.ts";
import type { ResponsesClientOutput } from "./responses-wire.ts";

/** An item of the server's own, and the image where it made one: that is bytes for the reader, and no copy of them is kept in the item. */
export function serverItemParts(item: JsonObject, origin: ProviderData): readonly Content[] {
  const type = stringOf(item["type"]) || "unknown";
  const result = type === "image_generation_call" ? stringOf(item["result"]) : "";
  const { result: _, ...rest } = item;
  const kept: ServerToolPart = {
    type: "server-tool",
    name: stringOf(item["name"]) || type,
    text: readableItem(item),
    providerData: { ...origin, item: result === "" ? item : rest },
  };
  if (result === "") return [kept];
  const image: ImagePart = {
    type: "image",
    mediaType: `image/${stringOf(item["output_format"]) || "png"}`,
    data: result,
    providerData: { ...origin, resultOf: stringOf(item["id"]) },
  };
  return [kept, image];
}

/** The item as it came; `parts` are those that stand with it and may hold its image. */
export function originalItem(part: ServerToolPart, parts: readonly Content[]): JsonObject {
  const item = part.providerData["item"] as JsonObject;
  if (item["type"] !== "image_generation_call" || item["result"] !== undefined) return item;
  const image = parts.find(
    (other): other is ImagePart => other.type === "image" && other.providerData?.["resultOf"] === stringOf(item["id"]),
  );
  return { ...item, result: image?.data ?? null };
}

/** Items that wait for something that the caller ran, and how that is told when nobody ran it. */
const CLIENT_RUN: { readonly [type: string]: (callId: string, words: string) => ResponsesClientOutput } = {
  local_shell_call: (id, output) => ({ type: "local_shell_call_output", id, output }),
  shell_call: (call_id, stderr) => ({
    type: "shell_call_output",
    call_id,
    output: [{ stdout: "", stderr, outcome: { type: "exit", exit_code: 1 } }],
  }),
  apply_patch_call: (call_id, output) => ({ type: "apply_patch_call_output", call_id, status: "failed", output }),
};

/** Results of the calls among `items` that have none in `results`: the API refuses a history that leaves one open. */
export function closeClientRun(items: readonly JsonObject[], results: readonly object[], words: string): readonly ResponsesClientOutput[] {
  const outputs = [...items, ...results].map(fieldsOf).filter((item) => stringOf(item?.["type"]).endsWith("_output"));
  return items.flatMap((item) => {
    const close = CLIENT_RUN[stringOf(item["type"])];
    const id = stringOf(item["call_id"]);
    if (close === undefined || outputs.some((output) => output?.["call_id"] === id || output?.["id"] === id)) return [];
    return [close(id, words)];
  });
}

/** The words of an item, for wires that cannot take the item itself. */
function readableItem(item: Fields): string {
  const action = fieldsOf(item["action"]);
  const queries = action?.["queries"] ?? item["queries"];
  const call = [
    ...(Array.isArray(queries) ? queries : [action?.["query"]]),
    action?.["url"],
    Array.isArray(action?.["command"]) ? action["command"].join(" ") : undefined,
    Array.isArray(action?.["commands"]) ? action["commands"].join("\n") : undefined,
    item["code"],
    item["arguments"],
    item["revised_prompt"] ?? item["prompt"],
    fieldsOf(item["operation"])?.["diff"],
  ].map(stringOf);
  const results = [...listOf(item["outputs"]), ...listOf(item["output"]), ...listOf(item["results"])].map((output) => {
    const fields = fieldsOf(output);
    return fields === undefined
      ? stringOf(output)
      : ["logs", "text", "stdout", "stderr", "filename", "url"]
          .map((name) => stringOf(fields[name]))
          .filter((text) => text !== "")
          .join("\n");
  });
  const error = stringOf(fieldsOf(item["error"])?.["message"]) || stringOf(item["error"]);
  return [...call, ...results, error].filter((text) => text !== "").join("\n");
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return typeof value === "string" ? [value] : [];
}
