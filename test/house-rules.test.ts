import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { judgeProjects } from "../tools/house-rules.ts";
import type { Offence } from "../tools/offence.ts";

const refused: readonly { readonly rule: string; readonly file: string; readonly text: string }[] = [
  {
    rule: "parallel-steps",
    file: "packages/runtime/src/agent/all.ts",
    text: `export const f = (c: any) => Promise.all([1, 2].map((n) => c.step(String(n), async () => n)));`,
  },
  {
    rule: "parallel-steps",
    file: "packages/runtime/src/agent/race.ts",
    text: `export const f = (c: any) => Promise.race([c.steps([]), c.other()]);`,
  },
  { rule: "clock-and-chance", file: "packages/runtime/src/agent/now.ts", text: `export const f = (): number => Date.now();` },
  { rule: "clock-and-chance", file: "packages/runtime/src/agent/new-date.ts", text: `export const f = (): Date => new Date();` },
  {
    rule: "clock-and-chance",
    file: "packages/runtime/src/agent/default-clock.ts",
    text: `export const f = (now: () => number = Date.now): number => now();`,
  },
  { rule: "clock-and-chance", file: "packages/runtime/src/agent/random.ts", text: `export const f = (): number => Math.random();` },
  {
    rule: "clock-and-chance",
    file: "packages/protocol/src/timer.ts",
    text: `declare function setTimeout(run: () => void): void; export const f = (): void => setTimeout(() => {});`,
  },
  {
    rule: "clock-and-chance",
    file: "packages/runtime/src/agent/uuid.ts",
    text: `import { randomUUID as id } from "node:crypto"; export const f = (): string => id();`,
  },
  {
    rule: "clock-and-chance",
    file: "packages/runtime/src/agent/global-uuid.ts",
    text: `export const f = (): string => globalThis.crypto.randomUUID();`,
  },
  {
    rule: "package-border",
    file: "packages/code/src/reach.ts",
    text: `import type { X } from "../../runtime/src/agent/now.ts"; export type Y = X;`,
  },
  { rule: "exports-by-name", file: "packages/runtime/src/agent/index.ts", text: `export * from "./now.ts";` },
  { rule: "file-names", file: "packages/runtime/src/agent/utils.ts", text: `export const f = 1;` },
  {
    rule: "floating-promise",
    file: "packages/runtime/src/agent/floats.ts",
    text: `declare function work(): Promise<void>;\nexport function f(): void { work(); }`,
  },
  {
    rule: "floating-promise",
    file: "packages/runtime/src/agent/floats.test.ts",
    text: `declare function work(): Promise<void> | undefined;\nexport const f = (on: boolean): void => { on && work(); };`,
  },
  {
    rule: "floating-promise",
    file: "packages/runtime/src/agent/floats-then.ts",
    text: `declare function work(): Promise<number>;\nexport function f(): void { work().then((n) => n + 1); }`,
  },
  {
    rule: "sometimes-promise",
    file: "packages/runtime/src/agent/now-and-then.ts",
    text: `export function f(n: number | Promise<number>): void { void n; }`,
  },
  {
    rule: "sometimes-promise",
    file: "packages/runtime/src/agent/returns-now-and-then.ts",
    text: `export class C { f(later: boolean): Promise<void> | void {\n if (later) return Promise.resolve(); } }`,
  },
  {
    rule: "sometimes-promise",
    file: "packages/code/src/inferred.ts",
    text: `declare function work(): Promise<number>;\nexport const f = (later: boolean) => (later ? work() : 1);`,
  },
  {
    rule: "sometimes-promise",
    file: "packages/protocol/src/holds-now-and-then.ts",
    text: `export type Callback = () => string | PromiseLike<string>;\nexport async function f(call: Callback): Promise<string> { const given = call(); return await given; }`,
  },
  {
    rule: "sometimes-promise",
    file: "packages/runtime/src/agent/own-type.ts",
    text: `type Own = { f(): Promise<string> | string };\nexport async function f(own: Own): Promise<string> { return await own.f(); }`,
  },
  {
    rule: "early-return",
    file: "packages/runtime/src/agent/given-back.ts",
    text: `declare function work(): Promise<number>;\nexport async function f(held: AsyncDisposable): Promise<number> { await using _ = held; if (held) return work(); return 1; }`,
  },
  {
    rule: "early-return",
    file: "packages/runtime/src/agent/finally.ts",
    text: `declare function work(): Promise<number>;\nexport const f = async (done: () => void): Promise<number> => { try { return work(); } finally { done(); } };`,
  },
  {
    rule: "early-return",
    file: "packages/runtime/src/agent/uncaught.ts",
    text: `declare function work(): Promise<number>;\nexport async function f(): Promise<number> { try { return work(); } catch { return 1; } }`,
  },
];

const accepted: readonly { readonly what: string; readonly file: string; readonly text: string }[] = [
  {
    what: "steps given to steps()",
    file: "packages/runtime/src/agent/steps.ts",
    text: `export const f = (c: any) => c.steps([{ key: "a" }]);`,
  },
  {
    what: "Promise.all over what is no step",
    file: "packages/runtime/src/agent/no-steps.ts",
    text: `export const f = (files: any[]) => Promise.all(files.map((file) => file.close()));`,
  },
  {
    what: "a clock that is given",
    file: "packages/runtime/src/agent/given.ts",
    text: `export const f = (clock: { now(): number; setTimeout(): void }): number => { clock.setTimeout(); return clock.now(); };`,
  },
  {
    what: "a promise that is awaited where something is held, or returned where nothing is",
    file: "packages/runtime/src/agent/awaited.ts",
    text: `declare function work(): Promise<number>;\nexport async function f(held: AsyncDisposable): Promise<number> { try { await using _ = held; return await work(); } catch { return work(); } }`,
  },
  {
    what: "a promise that a function which is not asynchronous returns, or one inside of it",
    file: "packages/runtime/src/agent/passed-on.ts",
    text: `declare function work(): Promise<number>;\nexport function f(): Promise<() => Promise<number>> { try { return Promise.resolve(() => work()); } finally { void 0; } }`,
  },
  {
    what: "a date made of a time that is given",
    file: "packages/runtime/src/agent/date.ts",
    text: `export const f = (at: number): string => new Date(at).toISOString();`,
  },
  { what: "the clock in a test", file: "packages/runtime/src/agent/clock.test.ts", text: `export const f = (): number => Date.now();` },
  { what: "the clock in a program", file: "packages/code/src/clock.ts", text: `export const f = (): number => Date.now();` },
  {
    what: "a promise that is awaited, returned, handled or let go on purpose",
    file: "packages/runtime/src/agent/held.ts",
    text: `declare function work(): Promise<void>;\nexport async function f(): Promise<void> { await work(); void work(); work().catch(() => {}); work().then(() => {}, () => {}).finally(() => {}); const p = work(); return p; }`,
  },
  {
    what: "a file in a folder with an exception",
    file: "packages/runtime/src/transport/timeout.ts",
    text: `export const f = (): number => Date.now();`,
  },
  {
    what: "a callback of users that gives a value now or later, and is awaited",
    file: "packages/runtime/src/agent/callback.ts",
    text: `export interface Given { readonly ask: () => string | Promise<string> }\nexport async function f({ ask }: Given, tell: () => void | Promise<void>): Promise<string> { await tell(); return await ask(); }`,
  },
  {
    what: "a promise that may not be there",
    file: "packages/runtime/src/agent/maybe-none.ts",
    text: `declare function work(): Promise<number>;\nlet working: Promise<number> | undefined;\nexport const f = (): Promise<number> => (working ??= work());`,
  },
  {
    what: "a function that is asynchronous only now and then in a test",
    file: "packages/runtime/src/agent/now-and-then.test.ts",
    text: `export const f = (n: number | Promise<number>): number | Promise<number> => n;`,
  },
  { what: "a file with an exception", file: "packages/runtime/src/agent/excepted.ts", text: `export const f = (): number => Date.now();` },
];

let folder: string;
let offences: readonly Offence[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "keelson-rules-"));
  for (const { file, text } of [...refused, ...accepted]) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), `${text}\n`);
  }
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: { target: "es2024", module: "nodenext", types: [], allowImportingTsExtensions: true, noEmit: true },
      include: ["packages"],
    }),
  );
  offences = judgeProjects(folder, ["tsconfig.json"], {
    "clock-and-chance": {
      "packages/runtime/src/agent/excepted.ts": "needs it",
      "packages/runtime/src/agent/given.ts": "needed it once",
      "packages/runtime/src/transport/": "is the edge",
    },
  });
}, 60_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

describe("the rules of the house", () => {
  it.each(refused)("$rule refuses $file", ({ rule, file }) => {
    expect(offences.filter((offence) => offence.file === file).map((offence) => offence.rule)).toEqual([rule]);
  });

  it.each(accepted.filter(({ file }) => !file.endsWith("given.ts")))("accept $what", ({ file }) => {
    expect(offences.filter((offence) => offence.file === file)).toEqual([]);
  });

  it("refuse an exception that nobody needs any more", () => {
    expect(offences.filter((offence) => offence.file.endsWith("given.ts")).map((offence) => offence.message)).toEqual([
      expect.stringContaining("needs no exception any more"),
    ]);
  });
});
