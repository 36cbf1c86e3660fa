import type { EffortLevel, JsonObject } from "@keelson/protocol";
import type { CallMarkupName } from "../call-markup/call-markup.ts";

/**
 * In what a vendor of the chat wire differs from OpenAI, as data; what is absent is as most servers have it. What a response shows by
 * itself (where reasoning stands, how usage is counted, how a stream ends) is found in the response, and needs no line here.
 */
export interface VendorQuirks {
  /** `{NAME}` in it is read from the environment. Absent: the caller must give `baseUrl`. */
  readonly baseUrl?: string | undefined;
  /** The environment variable of the key. Absent: `<VENDOR>_API_KEY`. */
  readonly keyVariable?: string | undefined;
  /** A server of one's own, which may want no key. */
  readonly local?: true | undefined;
  /** The header that takes the key as it is, where it is no bearer. */
  readonly keyHeader?: string | undefined;
  readonly headers?: { readonly [name: string]: string } | undefined;
  /** What the limit of the response is called. Absent: `max_tokens`. */
  readonly maxTokensField?: "max_completion_tokens" | undefined;
  /** It tells usage in streams without being asked, or refuses to be asked. */
  readonly streamOptions?: false | undefined;
  readonly reasoning?: ReasoningQuirks | undefined;
  readonly output?: OutputQuirks | undefined;
  /** What `required` is called. */
  readonly requiredToolChoice?: string | undefined;
  /** A tool cannot be named in the choice: one is required instead. */
  readonly namedToolChoice?: false | undefined;
  /** Standard members of the body that it refuses: they are left out. */
  readonly refuses?: readonly string[] | undefined;
  /** The letters and digits that a call's id must have, or how long it may be; ids that do not fit get another that stands for them. */
  readonly callIds?: { readonly length: number } | { readonly maxLength: number } | undefined;
  /** The markup of tool calls that its servers leave in the text. A text that is nothing but such markup is read as calls. */
  readonly callMarkup?: readonly CallMarkupName[] | undefined;
  readonly systemOnlyFirst?: true | undefined;
  readonly joinsUserMessages?: true | undefined;
  readonly afterResults?: string | undefined;
}

export interface ReasoningQuirks {
  /** Members of the body by effort. Absent: `reasoning_effort`, with `high` for `max`. */
  readonly effort?: { readonly [level in EffortLevel]: JsonObject } | undefined;
  /** Members that turn reasoning on or off where no effort is given. Absent: nothing is said. */
  readonly on?: JsonObject | undefined;
  readonly off?: JsonObject | undefined;
  /** The path of the member that takes a budget of tokens, as in `reasoning.max_tokens`. */
  readonly budget?: string | undefined;
  /** Sends reasoning that it does not take back. */
  readonly replays?: false | undefined;
  /** A turn with calls must have this member. */
  readonly requiredField?: string | undefined;
}

export interface OutputQuirks {
  /**
   * `json-object`: it can be held to JSON, and is told the schema in words. `words`: it is told everything in words. Absent: it can be
   * held to a schema.
   */
  readonly form?: "json-object" | "words" | undefined;
  /** It refuses strict schemas, or to be asked about them. */
  readonly strict?: false | undefined;
}
