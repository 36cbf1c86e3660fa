import type { Content, InferRequest, JsonValue } from "@keelson/protocol";
import { outputText } from "../render/output-text.ts";

/** One turn of the script: what a model would say and ask for. */
export interface ScriptTurn {
  readonly text: string;
  readonly toolCalls?: readonly { readonly name: string; readonly input: JsonValue }[];
}

/** How one of the bugs is recognised in the file that was read, and what is wrong with it. */
interface Repair {
  readonly path: string;
  readonly why: string;
  readonly broken: string;
  readonly repaired: string;
}

const REPAIRS: readonly Repair[] = [
  {
    path: "src/money.js",
    why: 'parseAmount takes the "5" of "12.5" for five cents. It is five tenths: the fraction has to be filled up to two digits before it is read as cents.',
    broken: "Number(whole) * 100 + Number(fraction)",
    repaired: 'Number(whole) * 100 + Number(fraction.padEnd(2, "0"))',
  },
  {
    path: "src/split.js",
    why: "splitEvenly rounds every share down and forgets the cents that are left, so balances do not add up to zero. The README says who gets them: the first people named, a cent each.",
    broken: "  return new Map(people.map((person) => [person, share]));",
    repaired:
      "  const left = cents % people.length;\n  return new Map(people.map((person, index) => [person, index < left ? share + 1 : share]));",
  },
];

const TEST = "node --test";

/**
 * A model that is a script, for those who have no key. It knows the two bugs of the broken project beforehand, but works like
 * a model: each turn looks at what the tools really returned, and says so when that is not what it expected.
 */
export const REPAIR_SCRIPT: readonly ((request: InferRequest) => ScriptTurn)[] = [
  () => ({
    text: "I'll look at what the project is and what it promises, then at its tests.",
    toolCalls: [call("list_directory", { path: "." }), call("read_file", { path: "README.md" })],
  }),
  () => ({
    text: "Money in whole cents, and no cent may be lost. Let me see what the tests say.",
    toolCalls: [call("bash", { command: TEST })],
  }),
  (request) => {
    const output = lastResults(request)[0] ?? "";
    const { failed, total } = testCounts(output);
    const sources = suspects(output);
    if (failed === 0) return { text: `All ${total} tests pass already: there is nothing to repair.` };
    return {
      text: `${failed} of ${total} tests fail:\n${failingTests(output)
        .map((name) => `- ${name}`)
        .join("\n")}\n\nThey point at ${sources.join(", ")}. I'll read those.`,
      toolCalls: sources.map((path) => call("read_file", { path })),
    };
  },
  (request) => edit(request, REPAIRS[0] as Repair),
  () => ({
    text: "Now the tests of that module alone, before I go on.",
    toolCalls: [call("bash", { command: `${TEST} test/money.test.js` })],
  }),
  (request) => {
    const { failed } = testCounts(lastResults(request)[0] ?? "");
    return edit(
      request,
      REPAIRS[1] as Repair,
      failed === 0 ? "That one is fixed. Next: " : `${failed} of them still fail; I come back to that. Next: `,
    );
  },
  () => ({ text: "The whole suite again.", toolCalls: [call("bash", { command: TEST })] }),
  (request) => {
    const { failed, passed, total } = testCounts(lastResults(request)[0] ?? "");
    if (failed > 0 || total === 0) return { text: `${failed} of ${total} tests still fail. I could not repair the project.` };
    return {
      text: `All ${passed} tests pass. Two bugs were behind the failures:\n${REPAIRS.map(({ path, why }) => `- ${path}: ${why}`).join("\n")}\n\nThe tests that failed for a whole tab failed because of both; src/settle.js itself is right and is unchanged.`,
    };
  },
];

function call(name: string, input: JsonValue): { readonly name: string; readonly input: JsonValue } {
  return { name, input };
}

function edit(request: InferRequest, { path, why, broken, repaired }: Repair, lead = ""): ScriptTurn {
  const seen = allResults(request).some((text) => text.includes(broken.trimStart().split("\n")[0] ?? broken));
  if (!seen) return { text: `I expected this in ${path} and did not find it:\n${broken}\nThis script knows no other repair.` };
  return { text: `${lead}${why}`, toolCalls: [call("edit_file", { path, old_string: broken, new_string: repaired })] };
}

/** The counts at the end of a run of node's test runner, whose marks differ between reporters (`ℹ` or `#`). */
export function testCounts(output: string): { readonly total: number; readonly passed: number; readonly failed: number } {
  const count = (name: string): number => Number(new RegExp(`^(?:ℹ|#) ${name} (\\d+)$`, "m").exec(output)?.[1] ?? 0);
  return { total: count("tests"), passed: count("pass"), failed: count("fail") + count("cancelled") };
}

/** The sentences of the tests that failed; of a failing group only its tests. */
export function failingTests(output: string): readonly string[] {
  const summary = output.slice(Math.max(0, output.indexOf("failing tests:")));
  const names = [...summary.matchAll(/^✖ (.+) \([\d.]+ms\)$/gm), ...output.matchAll(/^ {4}not ok \d+ - (.+)$/gm)].map(
    (match) => match[1] as string,
  );
  return [...new Set(names)];
}

/** The modules whose tests failed, by the convention that `test/x.test.js` tests `src/x.js`. */
function suspects(output: string): readonly string[] {
  const names = [...output.matchAll(/test\/([\w-]+)\.test\.js:\d+/g)].map((match) => `src/${match[1]}.js`);
  return [...new Set(names)].sort();
}

/** What the calls of the last turn returned. */
function lastResults({ messages }: InferRequest): readonly string[] {
  const last = messages.findLastIndex((message) => message.role === "assistant");
  return messages.slice(last + 1).flatMap(({ content }) => content.flatMap(resultText));
}

function allResults({ messages }: InferRequest): readonly string[] {
  return messages.flatMap(({ content }) => content.flatMap(resultText));
}

function resultText(part: Content): readonly string[] {
  return part.type === "tool-result" ? [outputText(part.output)] : [];
}
