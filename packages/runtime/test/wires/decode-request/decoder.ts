import type { Message } from "@keelson/protocol";
import type { CallNames } from "./call-names.ts";
import type { Fields } from "./fields.ts";

/** What the parts of a request need to know of the whole. */
export interface DecodingContext {
  readonly wire: string;
  readonly model: string;
  readonly calls: CallNames;
}

export interface DecodedConversation {
  readonly system: string;
  readonly messages: readonly Message[];
}

/** Reads the conversation in a request of one wire. */
export type Decoder = (body: Fields, context: DecodingContext) => DecodedConversation;
