import type { JsonValue } from "@keelson/protocol";

/** What a call was given; nothing where its text is no JSON. That of a custom tool is text. */
export function callInput(inputText: string, custom: boolean): { readonly input?: JsonValue } {
  if (custom) return { input: inputText };
  try {
    return { input: inputText === "" ? {} : (JSON.parse(inputText) as JsonValue) };
  } catch {
    return {};
  }
}
