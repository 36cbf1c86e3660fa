import fc from "fast-check";
import type { Content, JsonObject, JsonValue, Message } from "@keelson/protocol";
import { asJson, few, some } from "./combinators.ts";
import { type Members, oneMember } from "./one-member.ts";
import { digest, flag, id, json, text } from "./values.ts";

export const providerData: fc.Arbitrary<unknown> = some({ wire: text }, { model: text, id: json });
const source = fc.oneof(fc.record({ data: text }), fc.record({ url: text }), fc.record({ blob: digest }));
const withSource = (rest: fc.Arbitrary<unknown>) => fc.tuple(rest, source).map(([fields, one]) => ({ ...(fields as object), ...one }));

const contentMembers: Members<Content> = {
  "text": some({ text }, { providerData }),
  "thinking": some({ text }, { providerData }),
  "refusal": some({ text }, { providerData }),
  "image": withSource(some({ mediaType: text }, { providerData })),
  "file": withSource(some({ mediaType: text }, { name: text, providerData })),
  "tool-call": some({ id, name: text, inputText: text }, { input: json, custom: fc.constant(true), providerData }),
  "tool-result": some({ id, name: text, output: json }, { isError: flag, blob: digest }),
  "server-tool": some({ name: text, text, providerData }),
};

/** Vendors' own blocks too, which may call themselves what a part of ours is called. */
const vendorBlock = asJson<Content>(
  some(
    { type: fc.constant("other"), raw: fc.oneof(json, fc.record({ type: fc.constantFrom("text", "image", "thinking") })) },
    { providerData },
  ),
).filter((part) => part.type !== "other" || "providerData" in part || !isTaggedWithUnknown(part.raw));

function isTaggedWithUnknown(raw: JsonValue): boolean {
  return (
    typeof raw === "object" &&
    raw !== null &&
    !Array.isArray(raw) &&
    typeof (raw as JsonObject)["type"] === "string" &&
    !(((raw as JsonObject)["type"] as string) in contentMembers)
  );
}

export const content: fc.Arbitrary<Content> = fc.oneof(
  { weight: 5, arbitrary: oneMember<Content>(contentMembers) },
  { weight: 1, arbitrary: vendorBlock },
);

export const message: fc.Arbitrary<Message> = asJson<Message>(
  some({ role: fc.constantFrom("system", "user", "assistant", "tool"), content: few(content) }, { cut: fc.constant(true) }),
);
