import type { CallId, Content, JsonObject, JsonValue, Message, ProviderData } from "@keelson/protocol";
import fc from "fast-check";

/** A history as it may stand in a session: turns of several models, steering, orphans, parts that only one vendor knows. */
export interface History {
  readonly messages: readonly Message[];
  /** What somebody said in it: none of it may get lost, on any wire. */
  readonly words: readonly string[];
}

interface Origin {
  readonly wire: string;
  readonly model: string;
}

type Piece =
  | { readonly kind: "text" | "blank" | "refusal" | "server" | "other" | "image" | "file" }
  | { readonly kind: "thinking"; readonly form: "signed" | "plain" }
  | {
      readonly kind: "call";
      readonly id: "own" | "same" | "odd" | "long";
      readonly input: "object" | "text" | "list" | "unparsed" | "custom";
      readonly resultComes: "soon" | "twice" | "late" | "never";
      readonly output: "text" | "empty" | "json" | "error" | "media";
    };

interface Turn {
  readonly pieces: readonly Piece[];
  readonly after: readonly ("user" | "system" | "blank" | "image" | "stray" | "empty")[];
}

const piece: fc.Arbitrary<Piece> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<Piece>({ kind: "text" }, { kind: "blank" }, { kind: "refusal" }, { kind: "server" }) },
  { weight: 1, arbitrary: fc.constantFrom<Piece>({ kind: "other" }, { kind: "image" }, { kind: "file" }) },
  { weight: 1, arbitrary: fc.constantFrom<Piece>({ kind: "thinking", form: "signed" }, { kind: "thinking", form: "plain" }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("call" as const),
      id: fc.constantFrom("own", "own", "same", "odd", "long"),
      input: fc.constantFrom("object", "object", "text", "list", "unparsed", "custom"),
      resultComes: fc.constantFrom("soon", "soon", "soon", "twice", "late", "never"),
      output: fc.constantFrom("text", "empty", "json", "error", "media"),
    }),
  },
);

const turn: fc.Arbitrary<Turn> = fc.record({
  pieces: fc.array(piece, { maxLength: 4 }),
  after: fc.array(fc.constantFrom("user", "user", "system", "blank", "image", "stray", "empty"), { maxLength: 3 }),
});

/** Histories whose turns came from one of these, or from nobody that is known. */
export function histories(origins: readonly Origin[]): fc.Arbitrary<History> {
  return fc
    .record({
      begins: fc.boolean(),
      turns: fc.array(fc.record({ turn, origin: fc.option(fc.constantFrom(...origins)) }), { minLength: 1, maxLength: 6 }),
    })
    .map(({ begins, turns }) => new HistoryBuilder().build(begins, turns));
}

class HistoryBuilder {
  readonly #messages: Message[] = [];
  readonly #words: string[] = [];
  #late: Content[] = [];
  #count = 0;

  build(begins: boolean, turns: readonly { readonly turn: Turn; readonly origin: Origin | null }[]): History {
    if (begins) this.#messages.push({ role: "user", content: [this.#text()] });
    for (const { turn: each, origin } of turns) this.#turn(each, origin);
    if (this.#late.length > 0) this.#messages.push({ role: "tool", content: this.#late });
    return { messages: this.#messages, words: this.#words };
  }

  #turn({ pieces, after }: Turn, origin: Origin | null): void {
    const results: Content[] = this.#late;
    this.#late = [];
    const content = pieces.map((each) => this.#piece(each, origin, results));
    const isCut = content.every(({ type }) => type === "text" || type === "refusal");
    this.#messages.push({ role: "assistant", content, ...(isCut && { cut: true }) });
    if (results.length > 0) this.#messages.push({ role: "tool", content: results });
    for (const what of after) this.#after(what);
  }

  #after(what: Turn["after"][number]): void {
    if (what === "user" || what === "system") this.#messages.push({ role: what, content: [this.#text()] });
    else if (what === "blank") this.#messages.push({ role: "user", content: [{ type: "text", text: " \n" }] });
    else if (what === "empty") this.#messages.push({ role: "user", content: [] });
    else if (what === "image") this.#messages.push({ role: "user", content: [image] });
    else
      this.#messages.push({
        role: "tool",
        content: [{ type: "tool-result", id: `c_stray_${this.#count}` as CallId, name: "look", output: this.#word() }],
      });
  }

  #piece(each: Piece, origin: Origin | null, results: Content[]): Content {
    const own = origin === null ? {} : { providerData: dataOf(each, origin, this.#count) };
    switch (each.kind) {
      case "text":
        return { ...this.#text(), ...own };
      case "blank":
        return { type: "text", text: "  " };
      case "refusal":
        return { type: "refusal", text: this.#word() };
      case "thinking":
        return { type: "thinking", text: "hm", ...(each.form === "signed" && own) };
      case "server":
        return { type: "server-tool", name: "search", text: this.#word(), providerData: { wire: "nobody" } };
      case "other":
        return { type: "other", raw: { type: "summary", content: this.#word() }, providerData: { wire: "nobody" } };
      case "image":
        return image;
      case "file":
        return { type: "file", mediaType: "application/pdf", name: "paper.pdf", data: "QQ==" };
      case "call":
        return this.#call(each, own, results);
    }
  }

  #call(each: Extract<Piece, { kind: "call" }>, own: { readonly providerData?: ProviderData }, results: Content[]): Content {
    const number = this.#count++;
    const id = (
      each.id === "same"
        ? "c_same"
        : each.id === "odd"
          ? `call:${number}/ä`
          : each.id === "long"
            ? `c_${"x".repeat(80)}${number}`
            : `c_${number}`
    ) as CallId;
    const word = each.input === "unparsed" ? "" : this.#word();
    const input: JsonValue = each.input === "object" ? { q: word } : each.input === "list" ? [word] : word;
    const inputText = each.input === "unparsed" ? `{"q": "cut` : each.input === "custom" ? word : JSON.stringify(input);
    const call: Content = {
      type: "tool-call",
      id,
      name: "look",
      inputText,
      ...(each.input !== "unparsed" && { input }),
      ...(each.input === "custom" && { custom: true as const }),
      ...own,
    };
    const result = (): Content => ({
      type: "tool-result",
      id,
      name: "look",
      output: this.#output(each.output),
      ...(each.output === "error" && { isError: true }),
    });
    if (each.resultComes === "soon" || each.resultComes === "twice") results.push(result());
    if (each.resultComes === "twice") results.push(result());
    if (each.resultComes === "late") this.#late.push(result());
    return call;
  }

  #output(form: Extract<Piece, { kind: "call" }>["output"]): JsonValue {
    if (form === "empty") return "";
    if (form === "json") return { found: this.#word() };
    if (form === "media") return { type: "content", content: [{ type: "text", text: this.#word() }, image as unknown as JsonObject] };
    return this.#word();
  }

  #text(): Extract<Content, { type: "text" }> {
    return { type: "text", text: this.#word() };
  }

  #word(): string {
    const word = `word${this.#words.length}.`;
    this.#words.push(word);
    return word;
  }
}

const image: Content = { type: "image", mediaType: "image/png", data: "QQ==" };

/** What a vendor would have left on such a part: its id, its signature, its items. */
function dataOf(each: Piece, { wire, model }: Origin, number: number): ProviderData {
  const base: ProviderData = { wire, model };
  if (each.kind === "call") {
    const id = each.id === "same" ? "call_0" : each.id === "odd" ? `functions.look:${number}` : `call_${wire.slice(0, 3)}_${number}`;
    return wire === "gemini" && number % 2 === 0 ? { ...base, thoughtSignature: "c2ln" } : { ...base, id };
  }
  if (each.kind === "thinking")
    return {
      ...base,
      ...(wire === "anthropic-messages" && { signature: "c2ln" }),
      ...(wire === "openai-chat" && { field: "reasoning_content" }),
      ...(wire === "openai-responses" && { itemId: `rs_${number}`, encrypted: "ZW5j" }),
      ...(wire === "gemini" && { thoughtSignature: "c2ln" }),
    };
  return base;
}
