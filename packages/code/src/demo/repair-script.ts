import type { Content, InferRequest, JsonValue } from "@keelson/protocol";
import { TASKS_TOOL } from "../core/session-tasks.ts";
import { outputText } from "../render/output-text.ts";
import { failingTests, suspectModules, testCounts } from "./test-output.ts";

/** One turn of the script: what a model would say and ask for. */
export interface ScriptTurn {
  readonly text: string;
  readonly toolCalls?: readonly { readonly name: string; readonly input: JsonValue }[];
}

/** One of the bugs: the text by which the script recognises it in the file, and what is wrong with it. */
interface Repair {
  readonly path: string;
  /** The bug in a few words, and what mends it. */
  readonly bug: string;
  readonly remedy: string;
  readonly why: string;
  readonly broken: string;
  readonly repaired: string;
}

const REPAIRS: readonly [Repair, Repair] = [
  {
    path: "src/money.js",
    bug: '"12.5" is read as 12.05',
    remedy: "fill the fraction up to two digits",
    why: '`parseAmount` takes the "5" of "12.5" for five cents. It is five tenths: the fraction has to be filled up to two digits first.',
    broken: "Number(whole) * 100 + Number(fraction)",
    repaired: 'Number(whole) * 100 + Number(fraction.padEnd(2, "0"))',
  },
  {
    path: "src/split.js",
    bug: "cents that are left get lost",
    remedy: "hand them to the first people",
    why: "`splitEvenly` rounds every share down and forgets the cents that are left. The README says who gets them: **the first people named, a cent each**.",
    broken: "  return new Map(people.map((person) => [person, share]));",
    repaired:
      "  const left = cents % people.length;\n  return new Map(people.map((person, index) => [person, index < left ? share + 1 : share]));",
  },
];

const TEST = "node --test";
const TASKS = ["Run the tests", "Find the causes", "Fix the code", "Run all tests again"];

/**
 * A model that is a script, for those who have no key. It knows the two bugs of the broken project beforehand, but works like
 * a model: each turn reads what the tools really returned, and says so when that is not what it expected.
 */
export const REPAIR_SCRIPT: readonly ((request: InferRequest) => ScriptTurn)[] = [
  () => ({
    text: "I'll see what the project promises, then find the causes one by one.",
    toolCalls: [tasks(0), call("read_file", { path: "README.md" })],
  }),
  () => ({
    text: "Money is kept in whole cents, and **no cent may be lost**. Let me see what the tests say.",
    toolCalls: [call("bash", { command: TEST })],
  }),
  (request) => {
    const output = lastResults(request)[0] ?? "";
    const { failed, total } = testCounts(output);
    const sources = suspectModules(output);
    if (failed === 0) return { text: `All ${total} tests pass already: there is nothing to repair.` };
    return {
      text: `## ${failed} of ${total} tests fail\n\n${failureTable(output)}\n\nThey point at ${sources.map((path) => `\`${path}\``).join(", ")}. I'll read those.`,
      toolCalls: sources.map((path) => call("read_file", { path })),
    };
  },
  (request) => edit(request, REPAIRS[0]),
  (request) => stopped(request) ?? edit(request, REPAIRS[1], [tasks(2)]),
  (request) => stopped(request) ?? { text: "Both edits are in. The whole suite again:", toolCalls: [call("bash", { command: TEST })] },
  (request) => {
    const { failed, total } = testCounts(lastResults(request)[0] ?? "");
    if (failed > 0 || total === 0) return { text: `${failed} of ${total} tests still fail. I could not repair the project.` };
    return { text: "That was the last task.", toolCalls: [tasks(4)] };
  },
  (request) => {
    const { passed } = testCounts(allResults(request).findLast((text) => testCounts(text).total > 0) ?? "");
    const rows = REPAIRS.map(({ path, bug, remedy }) => `| \`${path}\` | ${bug} | ${remedy} |`);
    return {
      text: `## All ${passed} tests pass\n\n| file | bug | fix |\n| --- | --- | --- |\n${rows.join("\n")}\n\nNo test was changed. If you don't like it, \`/undo\` takes it all back.`,
    };
  },
];

function call(name: string, input: JsonValue): { readonly name: string; readonly input: JsonValue } {
  return { name, input };
}

/** The list of tasks with so many of them done. */
function tasks(done: number): { readonly name: string; readonly input: JsonValue } {
  const list = TASKS.map((text, index) => ({ text, state: index < done ? "done" : index === done ? "doing" : "open" }));
  return call(TASKS_TOOL, { tasks: list });
}

function failureTable(output: string): string {
  const rows = failingTests(output).map(({ name, file = "?" }) => `| ${name} | \`${file}\` |`);
  return ["| test | file |", "| --- | --- |", ...rows].join("\n");
}

function edit(
  request: InferRequest,
  { path, why, broken, repaired }: Repair,
  before: readonly { readonly name: string; readonly input: JsonValue }[] = [],
): ScriptTurn {
  const seen = allResults(request).some((text) => text.includes(broken.trimStart().split("\n")[0] ?? broken));
  if (!seen) return { text: `I expected this in ${path} and did not find it:\n${broken}\nThis script knows no other repair.` };
  return {
    text: `${why}\n\n\`\`\`js\n// ${path}\n${broken.trimStart()}\n\`\`\`\n\nMy fix:`,
    toolCalls: [...before, call("edit_file", { path, old_string: broken, new_string: repaired })],
  };
}

/** The last turn of a run whose edit was not made, such as one that the person declined; `undefined` if it was made. */
function stopped({ messages }: InferRequest): ScriptTurn | undefined {
  const last = messages.findLastIndex((message) => message.role === "assistant");
  const parts = messages.slice(last + 1).flatMap(({ content }) => content);
  const failed = parts.find((part) => part.type === "tool-result" && part.name === "edit_file" && part.isError === true);
  if (failed === undefined) return undefined;
  const [reason = ""] = resultText(failed).join("").split(/[.\n]/);
  return { text: `The edit was not made: ${reason}. So I stop here, and **the tests still fail**.` };
}

/** The results of the calls of the last turn. */
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
