import type {
  Content,
  FilePart,
  ImagePart,
  Message,
  OtherPart,
  ProviderData,
  RefusalPart,
  ServerToolPart,
  TextPart,
  ThinkingPart,
  ToolCallPart,
  ToolResultPart,
} from "../content.ts";
import type { CallId, Digest } from "../ids.ts";
import { fields, flag, json, list, member, oneOf, optional, payload, tagged, text, where, yes, type Codec } from "./codec.ts";
import { versioned } from "./versioned.ts";

export const digestCodec: Codec<Digest> = where(text<Digest>(), (digest) =>
  /^sha256:[0-9a-f]{64}$/.test(digest) ? undefined : `expected "sha256:" and 64 hex digits, got ${JSON.stringify(digest)}`,
);

// An index signature and fields at once, which `FieldsOf` cannot tell apart.
export const providerDataCodec: Codec<ProviderData> = fields<{ readonly wire: string; readonly model?: string }>({
  wire: text(),
  model: optional(text()),
}) as Codec<ProviderData>;

const source = {
  mediaType: text(),
  data: optional(text()),
  url: optional(text()),
  blob: optional(digestCodec),
  providerData: optional(providerDataCodec),
};

function oneSource<T extends ImagePart | FilePart>(codec: Codec<T>): Codec<T> {
  return where(codec, ({ data, url, blob }) => {
    const given = [data, url, blob].filter((one) => one !== undefined).length;
    return given === 1 ? undefined : `needs exactly one of "data", "url" and "blob", and has ${given}`;
  });
}

/** One part of a message. */
export const contentCodec: Codec<Content> = payload(
  "content",
  tagged<Content>(
    "a content part",
    {
      "text": member<TextPart>({ text: text(), providerData: optional(providerDataCodec) }),
      "thinking": member<ThinkingPart>({ text: text(), providerData: optional(providerDataCodec) }),
      "refusal": member<RefusalPart>({ text: text(), providerData: optional(providerDataCodec) }),
      "image": oneSource(member<ImagePart>(source)),
      "file": oneSource(member<FilePart>({ ...source, name: optional(text()) })),
      "tool-call": member<ToolCallPart>({
        id: text<CallId>(),
        name: text(),
        input: optional(json),
        inputText: text(),
        custom: optional(yes),
        providerData: optional(providerDataCodec),
      }),
      "tool-result": member<ToolResultPart>({
        id: text<CallId>(),
        name: text(),
        output: json,
        isError: optional(flag),
        blob: optional(digestCodec),
      }),
      "server-tool": member<ServerToolPart>({ name: text(), text: text(), providerData: providerDataCodec }),
    },
    { other: member<OtherPart>({ raw: json, providerData: optional(providerDataCodec) }) },
  ),
);

export const messageCodec: Codec<Message> = versioned(
  "message",
  fields<Message>({
    role: oneOf("system", "user", "assistant", "tool"),
    content: list(contentCodec),
    cut: optional(yes),
    summary: optional(yes),
  }),
);
