import type { JsonObject, JsonValue } from "@keelson/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, parseArguments } from "../../json/index.ts";
import { HeldText } from "../held-text.ts";
import { InferFold } from "../infer-fold.ts";
import type { DecodedEvent } from "../polled-events.ts";
import { ToolNames } from "../tool-names.ts";
import { ChatCalls } from "./chat-calls.ts";

const TOOLS = ["read", "read_file", "write_file", "go", "list"];

interface Call {
  readonly name: string;
  readonly input: JsonObject;
}

/** The manner in which a gateway sends calls. */
interface Gateway {
  readonly index: "right" | "zero" | "missing" | "null" | "text";
  readonly ids: "missing" | "first" | "every" | "first, then empty";
  readonly names: "first" | "every" | "pieces" | "first, then null";
  readonly input: "pieces" | "cumulative" | "whole" | "object";
  readonly before: "" | "{}";
  readonly repeats: boolean;
  readonly behind: "" | "}" | "\n</tool_call>";
  /** Leaves empty arguments out. */
  readonly omitsEmpty: boolean;
  /** Ends each call with a fragment without arguments. */
  readonly trails: boolean;
}

const gateways: fc.Arbitrary<Gateway> = fc.record({
  index: fc.constantFrom("right", "zero", "missing", "null", "text"),
  ids: fc.constantFrom("missing", "first", "every", "first, then empty"),
  names: fc.constantFrom("first", "every", "pieces", "first, then null"),
  input: fc.constantFrom("pieces", "cumulative", "whole", "object"),
  before: fc.constantFrom("", "{}"),
  repeats: fc.boolean(),
  behind: fc.constantFrom("", "}", "\n</tool_call>"),
  omitsEmpty: fc.boolean(),
  trails: fc.boolean(),
});

const value = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.integer(),
  fc.boolean(),
  fc.constantFrom<JsonValue>("}{", '"}', "{}", "</tool_call>", { a: {} }, [{ a: 1 }], null),
);
const calls = (minKeys: number): fc.Arbitrary<readonly Call[]> =>
  fc.array(
    fc.record({
      name: fc.constantFrom(...TOOLS),
      input: fc.dictionary(fc.constantFrom("a", "b", "path"), value, { minKeys, maxKeys: 3 }) as fc.Arbitrary<JsonObject>,
    }),
    { minLength: 1, maxLength: 4 },
  );

/** The fragments in which a gateway sends some calls, as chunks. `cut` says where texts are cut. */
function send(meant: readonly Call[], gateway: Gateway, cut: () => number): readonly JsonObject[][] {
  const fragments = meant.flatMap((call, at) => {
    const text = gateway.omitsEmpty && Object.keys(call.input).length === 0 ? "" : JSON.stringify(call.input);
    const pieces = piecesOf(text, gateway, cut);
    if (gateway.before !== "") pieces.unshift(gateway.before);
    if (gateway.repeats && text !== "") pieces.push(gateway.input === "object" ? call.input : text);
    // A copy with one bracket too many cannot be told from an object within an object.
    if (gateway.behind !== "" && text !== "" && !(gateway.input === "cumulative" && gateway.behind === "}")) pieces.push(gateway.behind);
    if (gateway.trails) pieces.push("");
    const names = gateway.names === "pieces" ? cutText(call.name, cut) : [call.name];
    const bodies: JsonObject[] = names.slice(0, -1).map((name) => ({ name }));
    for (const [nth, piece] of pieces.entries()) {
      const name =
        nth === 0 ? names.at(-1) : gateway.names === "every" ? call.name : gateway.names === "first, then null" ? null : undefined;
      bodies.push({ arguments: piece, ...(name !== undefined && { name }) });
    }
    return bodies.map((body, nth): JsonObject => {
      const id =
        gateway.ids === "missing"
          ? undefined
          : nth === 0 || gateway.ids === "every"
            ? `id-${at}`
            : gateway.ids === "first"
              ? undefined
              : "";
      const index = { right: at, zero: 0, missing: undefined, null: null, text: String(at) }[gateway.index];
      return { ...(index !== undefined && { index }), ...(id !== undefined && { id }), type: "function", function: body };
    });
  });
  const chunks: JsonObject[][] = [];
  for (const fragment of fragments) {
    if (chunks.length === 0 || cut() % 3 > 0) chunks.push([]);
    chunks.at(-1)?.push(fragment);
  }
  return chunks;
}

function piecesOf(text: string, { input }: Gateway, cut: () => number): JsonValue[] {
  if (text === "") return [null];
  if (input === "object") return [JSON.parse(text) as JsonValue];
  if (input === "whole") return [text];
  const pieces = cutText(text, cut);
  return input === "pieces" ? pieces : pieces.map((_, at) => pieces.slice(0, at + 1).join(""));
}

function cutText(text: string, cut: () => number): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const length = 1 + (cut() % 6);
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}

/** The calls that are decoded, with their arguments as the runtime reads them; `undefined` if it refuses them. */
async function receive(chunks: readonly (readonly JsonObject[])[]): Promise<readonly { name: string; input: JsonValue | undefined }[]> {
  const queue: DecodedEvent[] = [];
  const calls = new ChatCalls(
    queue,
    "openai-chat",
    new HeldText({ provider: "p", model: "m" }),
    new ToolNames(TOOLS.map((name) => ({ name }))),
  );
  for (const chunk of chunks) calls.fragments(chunk);
  calls.finish();
  const fold = new InferFold();
  for (const event of queue) if (event.type !== "text-run") fold.push(event);
  const read = fold.calls.map(async ({ name, text }) => {
    const parsed = await parseArguments(text);
    return { name, input: parsed.ok ? parsed.value : undefined };
  });
  return Promise.all(read);
}

const keyOf = ({ name, input }: { readonly name: string; readonly input: JsonValue | undefined }): string =>
  `${name} ${canonicalJson(input)}`;

function cuts(seeds: readonly number[]): () => number {
  let at = 0;
  return () => seeds[at++ % seeds.length] as number;
}
const seeds = fc.array(fc.nat(100), { minLength: 1, maxLength: 40 });

describe("the calls that a gateway sends in fragments", () => {
  it("arrive as they were meant if ids or indexes tell them apart, however they are cut [EV-02]", async () => {
    await fc.assert(
      fc.asyncProperty(calls(0), gateways, seeds, async (meant, gateway, at) => {
        fc.pre(gateway.index === "right" || gateway.index === "text" || gateway.ids !== "missing");
        expect(await receive(send(meant, gateway, cuts(at)))).toEqual(meant);
      }),
      { numRuns: 3000 },
    );
  });

  it("arrive as they were meant without ids and indexes, if no call equals the one before it [EV-02]", async () => {
    await fc.assert(
      fc.asyncProperty(calls(1), gateways, seeds, async (list, gateway, at) => {
        const meant = list.filter((call, nth) => nth === 0 || keyOf(call) !== keyOf(list[nth - 1] as Call));
        expect(await receive(send(meant, { ...gateway, index: "zero", ids: "missing" }, cuts(at)))).toEqual(meant);
      }),
      { numRuns: 3000 },
    );
  });

  it("are never run with other arguments, and never more often than they were meant", async () => {
    await fc.assert(
      fc.asyncProperty(calls(0), gateways, seeds, async (list, gateway, at) => {
        const left = list.map(keyOf);
        for (const call of await receive(send(list, gateway, cuts(at)))) {
          if (call.input === undefined) continue;
          expect(left).toContain(keyOf(call));
          left.splice(left.indexOf(keyOf(call)), 1);
        }
      }),
      { numRuns: 3000 },
    );
  });
});
