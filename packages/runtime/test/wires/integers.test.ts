import type { JsonObject, Provider } from "@keelson/protocol";
import { createAgent, createModelRegistry, defineTool } from "keelson";
import { startModelServer, type ModelServer } from "keelson/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createAnthropicProvider } from "../../src/providers/anthropic.ts";
import { createGeminiProvider } from "../../src/providers/gemini.ts";
import { createOllamaProvider } from "../../src/providers/ollama.ts";
import { createOpenAiChatProvider } from "../../src/providers/openai-chat.ts";
import { createOpenAiResponsesProvider } from "../../src/providers/openai-responses.ts";
import type { ValidatedWire } from "../../src/testing/request-validation/validate-request.ts";
import { sampleSize } from "../../../../test/tier.ts";
import { runnerOf, watch } from "../agent/support.ts";

type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;
const providers: { readonly [wire in ValidatedWire]: (server: ModelServer, fetch: Fetch) => Provider } = {
  "anthropic-messages": ({ url }, fetch) => createAnthropicProvider({ apiKey: "k", baseUrl: url, fetch }),
  "openai-chat": ({ openAiUrl }, fetch) => createOpenAiChatProvider({ apiKey: "k", baseUrl: openAiUrl, fetch }),
  "openai-responses": ({ openAiUrl }, fetch) => createOpenAiResponsesProvider({ apiKey: "k", baseUrl: openAiUrl, fetch }),
  "gemini": ({ url }, fetch) => createGeminiProvider({ apiKey: "k", baseUrl: url, fetch }),
  "ollama-chat": ({ url }, fetch) => createOllamaProvider({ apiKey: "k", baseUrl: url, fetch }),
};
// The path of a request to Gemini says if its response is streamed, and our client has one path.
const ways = (Object.keys(providers) as ValidatedWire[]).flatMap((wire) =>
  (wire === "gemini" ? [true] : [true, false]).map((stream) => ({ wire, stream })),
);

/** A number of a JSON text, as it is written there. */
class Numeral {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

/** Parses JSON and keeps its numbers as they are written. */
function read(text: string): unknown {
  let at = 0;
  const skip = (): void => void (at += (/^\s*/.exec(text.slice(at)) as RegExpExecArray)[0].length);
  const value = (): unknown => {
    skip();
    const char = text[at];
    if (char === "{" || char === "[") {
      const members: [string, unknown][] = [];
      at++;
      for (skip(); text[at] !== "}" && text[at] !== "]"; skip()) {
        let name = String(members.length);
        if (char === "{") {
          name = value() as string;
          skip();
          at++;
        }
        members.push([name, value()]);
        skip();
        if (text[at] === ",") at++;
      }
      at++;
      return char === "{" ? Object.fromEntries(members) : members.map(([, item]) => item);
    }
    const token = (/^(?:"(?:[^"\\]|\\.)*"|[^\s,\]}]+)/s.exec(text.slice(at)) as RegExpExecArray)[0];
    at += token.length;
    return /^[-\d]/.test(token) ? new Numeral(token) : (JSON.parse(token) as unknown);
  };
  return value();
}

/** The places where a value, or a text that was read in the same way, is not what was written: another number, or a text of other digits. */
function differences(written: unknown, received: unknown, path = "$"): readonly string[] {
  if (written instanceof Numeral) {
    const { source } = written;
    if (typeof received === "string" && received === source) return [];
    const whole = integerOf(source);
    const number = received instanceof Numeral ? received.source : typeof received === "number" ? String(received) : "";
    const same = number !== "" && (whole === undefined ? Number(number) === Number(source) : integerOf(number) === whole);
    return same ? [] : [`${path}: ${source} became ${JSON.stringify(received)}`];
  }
  if (typeof written !== "object" || written === null)
    return Object.is(written, received) ? [] : [`${path}: ${String(written)} became ${JSON.stringify(received)}`];
  if (typeof received !== "object" || received === null || Object.keys(received).length !== Object.keys(written).length)
    return [`${path} became ${JSON.stringify(received)}`];
  return Object.entries(written).flatMap(([name, member]) =>
    differences(member, (received as { readonly [name: string]: unknown })[name], `${path}.${name}`),
  );
}

/** The integer that a number is, whatever its notation; `undefined` of a fraction. */
function integerOf(source: string): bigint | undefined {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(
    source,
  ) as RegExpExecArray;
  const places = Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction);
  if (places >= 0) return BigInt(`${sign}1`) * digits * 10n ** BigInt(places);
  const unit = 10n ** BigInt(-places);
  return digits % unit === 0n ? (BigInt(`${sign}1`) * digits) / unit : undefined;
}

const numeral = fc.oneof(
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
  fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 20n }).map(String),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((double) => JSON.stringify(double)),
  fc
    .tuple(fc.bigInt({ min: 1n, max: 10n ** 20n }), fc.integer({ min: -25, max: 320 }))
    .map(([digits, exponent]) => `${digits}e${exponent}`),
  fc.bigInt({ min: 1n, max: 10n ** 20n }).map((digits) => `-${digits}.0`),
);
const name = fc.constantFrom("id", "a b", "__proto__", "constructor", "", "0", 'é"\\');
/** JSON text with numbers of all sizes and notations. */
const json = fc.letrec<{ text: string }>((tie) => ({
  text: fc.oneof(
    { maxDepth: 3 },
    numeral,
    fc.oneof(numeral, fc.string({ unit: fc.constantFrom('"', "\\", "9", "7", "{", ",") })).map((text) => JSON.stringify(text)),
    fc.array(tie("text"), { maxLength: 3 }).map((items) => `[${items.join(", ")}]`),
    fc
      .uniqueArray(fc.tuple(name, tie("text")), { maxLength: 3, selector: ([key]) => key })
      .map((members) => `{${members.map(([key, text]) => `${JSON.stringify(key)} : ${text}`).join(",")}}`),
  ),
})).text;

/** Runs a call with these arguments, and returns what the tool, the log and the next request held of them. */
async function callWith(wire: ValidatedWire, stream: boolean, inputText: string, schema: JsonObject) {
  await using server = await startModelServer(({ index }) =>
    index === 0 ? { toolCalls: [{ name: "take", inputText }] } : { text: "done" },
  );
  const bodies: string[] = [];
  const provider = providers[wire](server, async (url, init) => {
    bodies.push(await new Response(init?.body ?? null).text());
    return await fetch(url, init);
  });
  const received: unknown[] = [];
  const take = defineTool({ name: "take", description: "", input: schema, execute: (input) => void received.push(input) });
  const settings = stream ? {} : { settings: { extra: { stream } } };
  const agent = createAgent({ name: "a", model: "p/gemini-2.5-test", tools: [take], ...settings });
  const { outcome, events } = await watch(runnerOf(agent, { models: createModelRegistry({ providers: { p: provider } }) }).run("go"));
  const asked = events.find((event) => event.type === "tool-calls-start");
  const result = events.find((event) => event.type === "tool-result");
  expect(outcome.error?.message).toBeUndefined();
  expect(server.refused).toEqual([]);
  return { received, asked: asked?.calls[0], result, next: bodies[1] ?? "" };
}

/** The place of the arguments in a request's body. */
const places: { readonly [wire in ValidatedWire]: readonly (string | number)[] } = {
  "anthropic-messages": ["messages", 1, "content", 0, "input"],
  "gemini": ["contents", 1, "parts", 0, "functionCall", "args"],
  "ollama-chat": ["messages", 1, "tool_calls", 0, "function", "arguments"],
  "openai-chat": ["messages", 1, "tool_calls", 0, "function", "arguments"],
  "openai-responses": ["input", 1, "arguments"],
};

/** The arguments of the call in a request's body. */
function argumentsIn(wire: ValidatedWire, body: string): unknown {
  const found = places[wire].reduce<unknown>((at, step) => (at as { readonly [step: string | number]: unknown })[step], read(body));
  return typeof found === "string" ? read(found) : found;
}

describe.each(ways)("the integers of a call over $wire (stream: $stream)", ({ wire, stream }) => {
  const numRuns = sampleSize(`calls with integers over ${wire} (stream: ${stream})`, { test: 12, ci: 60, soak: 400 });

  it("are those that the model wrote: in the tool, in the log and in the next request", async () => {
    await fc.assert(
      fc.asyncProperty(json, async (text) => {
        const inputText = `{"value":${text}}`;
        const { received, asked, next } = await callWith(wire, stream, inputText, { type: "object", properties: { value: {} } });
        const written = read(inputText);
        expect(differences(written, received[0])).toEqual([]);
        expect(differences(written, asked?.input)).toEqual([]);
        expect(differences(written, read(asked?.inputText ?? ""))).toEqual([]);
        expect(differences(written, argumentsIn(wire, next))).toEqual([]);
      }),
      { numRuns },
    );
  });

  it("reach a tool that takes numbers only if a double keeps them; else the tool does not run, and the model is told to send text", async () => {
    await fc.assert(
      fc.asyncProperty(numeral, async (source) => {
        const { received, result } = await callWith(wire, stream, `{"value":${source}}`, {
          type: "object",
          properties: { value: { type: "number" } },
        });
        const whole = integerOf(source);
        const double = Number(source);
        const keeps = whole === undefined || (Number.isFinite(double) && integerOf(String(double)) === whole);
        if (keeps) expect(received).toEqual([{ value: double }]);
        else {
          expect(received).toEqual([]);
          expect(result).toMatchObject({ isError: true, output: expect.stringContaining(`Send it as text, "${source}"`) });
        }
      }),
      { numRuns },
    );
  });
});
