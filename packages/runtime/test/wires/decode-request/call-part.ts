import type { Content, JsonValue, ProviderData } from "@keelson/protocol";
import type { CallNames } from "./call-names.ts";

interface WrittenCall {
  readonly name: string;
  readonly inputText: string;
  readonly providerData: ProviderData;
  /** The vendor's id; without one, results name calls by their order. */
  readonly vendorId?: string;
  readonly custom?: boolean;
}

/** A call whose input is written as text: JSON, and whatever its author likes where the tool is a custom one. */
export function callPart(calls: CallNames, { name, inputText, providerData, vendorId = "", custom = false }: WrittenCall): Content {
  return {
    type: "tool-call",
    id: calls.call(vendorId, name),
    name,
    ...(custom ? { input: inputText } : parsedInput(inputText)),
    inputText,
    ...(custom && { custom: true as const }),
    providerData,
  };
}

/** Nothing where the text is no JSON. */
function parsedInput(inputText: string): { readonly input?: JsonValue } {
  try {
    return { input: inputText === "" ? {} : (JSON.parse(inputText) as JsonValue) };
  } catch {
    return {};
  }
}
