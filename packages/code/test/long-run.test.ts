import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentEvent } from "@keelson/protocol";
import type { ServerRequest } from "keelson/testing";
import { expect, it } from "vitest";
import { sampleSize } from "../../../test/tier.ts";
import { openWorkspace, type Running } from "./keelson-process.ts";

/** `deepseek-chat` reads 64,000 tokens. */
const MODEL = "deepseek/deepseek-chat";
const WINDOW = 64_000;
const PRICE = { input: 0.27e-6, output: 1.1e-6 };
/**
 * The growth of the peak of the memory since the first request. The built packages peaked at 194 MB in 200 turns. A process that runs from sources begins
 * higher, because it reads each file and strips its types.
 */
const MOST_GROWTH_MB = 150;
/** The ceiling of the input tokens: so many for each turn, with its summaries. */
const MOST_TOKENS_PER_TURN = 24_000;
const OUTPUT_TOKENS = 60;

/** The source of a file by its number; every fortieth file is long. */
function sourceOf(n: number): string {
  const functions = n % 40 === 0 ? 120 : 8;
  return Array.from(
    { length: functions },
    (_, part) =>
      `export function step${n}x${part}(value: number): number {\n  // marker${n % 97} of part ${part}\n  return value * ${part + 1} + ${n};\n}\n`,
  ).join("\n");
}

async function writeRepository(folder: string, files: number): Promise<void> {
  const folders = Math.ceil(files / 50);
  for (let n = 0; n < folders; n++) await mkdir(join(folder, "src", `area${n}`), { recursive: true });
  await Promise.all(Array.from({ length: files }, (_, n) => writeFile(join(folder, pathOf(n)), sourceOf(n))));
}

function pathOf(n: number): string {
  return `src/area${Math.floor(n / 50)}/step${n}.ts`;
}

/** The calls of a turn: a search, reads of one and of several files, a range, a command, a new file. */
function callsOf(turn: number, files: number): readonly { readonly name: string; readonly input: { readonly [name: string]: unknown } }[] {
  const file = (n: number): string => pathOf((turn * 37 + n * 11) % files);
  switch (turn % 8) {
    case 0:
      return [{ name: "grep", input: { pattern: `marker${turn % 97}\\b` } }];
    case 1:
    case 2:
      return [{ name: "read_file", input: { path: file(0) } }];
    case 3:
      return [0, 1, 2, 3].map((n) => ({ name: "read_file", input: { path: file(n) } }));
    case 4:
      return [{ name: "read_file", input: { path: pathOf(((turn % 5) * 40) % files) } }];
    case 5:
      return [{ name: "glob", input: { pattern: `src/area${turn % 9}/*.ts` } }];
    case 6:
      return [{ name: "bash", input: { command: "ls" } }];
    default:
      return [{ name: "write_file", input: { path: `notes/turn${turn}.md`, content: `What turn ${turn} found.\n` } }];
  }
}

/** The peak of the memory of a process so far, where the system has it. */
async function peakMemoryMb({ child }: Running): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, "utf8").catch(() => "");
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
}

const turns = sampleSize("turns of a long run", { test: 48, ci: 80, soak: 200 });
const files = sampleSize("files of the repository of a long run", { test: 300, ci: 1_000, soak: 5_000 });

it(
  "works many turns on a large repository in a window of 64,000 tokens, within bounds of memory and tokens, with every cost accounted for [ST-11]",
  { timeout: 3_600_000 },
  async () => {
    let turn = 0;
    let running: Running | undefined;
    let memory = 0;
    let atFirst: number | undefined;
    const billed: { input: number; output: number; calls: number } = { input: 0, output: 0, calls: 0 };
    let refused = 0;
    let largest = 0;
    await using workspace = await openWorkspace(async (request: ServerRequest) => {
      if (running !== undefined) memory = Math.max(memory, await peakMemoryMb(running));
      atFirst ??= memory;
      const text = JSON.stringify(request.body);
      const inputTokens = Math.ceil(text.length / 4);
      largest = Math.max(largest, inputTokens);
      if (inputTokens > WINDOW) {
        refused++;
        return {
          status: 400,
          error: { message: `This model's maximum context length is ${WINDOW} tokens.`, code: "context_length_exceeded" },
        };
      }
      billed.input += inputTokens;
      billed.output += OUTPUT_TOKENS;
      billed.calls++;
      const usage = { inputTokens, outputTokens: OUTPUT_TOKENS };
      if (text.includes("Summarise the transcript of an agent's work")) return { text: "Files were read, and notes written.", usage };
      if (turn >= turns) return { text: "All is done.", usage };
      return { text: `Turn ${turn}.`, toolCalls: callsOf(turn++, files) as never, usage };
    });
    await writeRepository(workspace.project, files);
    running = workspace.start(
      [
        "-p",
        "--model",
        MODEL,
        "--permission-mode",
        "accept-edits",
        "--max-turns",
        String(turns + 5),
        "--output-format",
        "stream-json",
        "go",
      ],
      { env: { DEEPSEEK_API_KEY: "key-of-deepseek", DEEPSEEK_BASE_URL: workspace.server.openAiUrl } },
    );
    const { code, stdout, stderr } = await running.finished;
    const events = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as AgentEvent);
    const end = events.find((event) => event.type === "run-complete");
    expect([code, end?.reason, stderr.includes("error")]).toEqual([0, "complete", false]);
    expect(workspace.server.refused).toEqual([]);
    expect(refused).toBe(0);

    const usages = events.filter((event) => event.type === "usage");
    expect(usages.filter(({ estimated }) => estimated)).toEqual([]);
    expect(usages).toHaveLength(billed.calls);
    expect(end?.usage).toMatchObject({ inputTokens: billed.input, outputTokens: billed.output });
    const cost = billed.input * PRICE.input + billed.output * PRICE.output;
    expect(Number(end?.cost)).toBeCloseTo(cost, 6);
    expect(usages.reduce((sum, event) => sum + Number(event.cost), 0)).toBeCloseTo(cost, 6);

    const compactions = events.filter((event) => event.type === "compaction").length;
    process.stdout.write(
      `${turns} turns on ${files} files: ${billed.input} input tokens in ${billed.calls} calls (at most ${largest} in one), ${compactions} compactions, $${cost.toFixed(4)}, ${Math.round(atFirst ?? 0)} to ${Math.round(memory)} MB\n`,
    );
    expect(billed.input).toBeLessThanOrEqual(turns * MOST_TOKENS_PER_TURN);
    expect(memory - (atFirst ?? 0)).toBeLessThan(MOST_GROWTH_MB);
  },
);
