// The operator of the tests, in a process of its own. What it does is what its message says.
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { serveOperator } from "keelson/environment";
import { operatorInput, ZERO_USD, type ExecutionContext } from "@keelson/protocol";

type Deed = (context: ExecutionContext, argument: string) => Promise<string> | string;

const deeds: Readonly<Record<string, Deed>> = {
  echo: (_context, argument) => argument,
  tell: (context) => `${context.runId} in ${context.session}, of ${context.parent?.run ?? "nobody"}, until ${context.deadline ?? "ever"}`,
  steps: async (context, file) => {
    const write = (word: string) => async (): Promise<string> => {
      appendFileSync(file, `${word}\n`);
      return word;
    };
    const first = await context.step("first", write("one"));
    const others = await context.steps([
      { key: "second", run: write("two") },
      { key: "third", run: async ({ idempotencyKey, number }) => `${number}/${idempotencyKey.length > 0}` },
      { key: "fourth", run: async () => Promise.reject(new Error("four is too many")) },
    ]);
    return JSON.stringify([first, ...others].map((result) => (result.ok ? result.value : result.failure.message)));
  },
  decide: async (context) => String(await context.decide("coin", () => "heads")),
  race: async (context) =>
    String(
      await context.select("race", [
        { type: "timer", at: Number.MAX_SAFE_INTEGER },
        { type: "step", spec: { key: "quick", run: async () => "done" } },
      ]),
    ),
  commit: async (context) => {
    context.emit({ type: "status", status: "on its way" });
    return String(await context.commit("said", { type: "suggestion", suggestions: ["said"] }));
  },
  child: async (context, operator) => {
    const output = await context.startChild({ key: "c", operator, input: operatorInput("go", "task") });
    return JSON.stringify(output.message);
  },
  suspend: (context) => context.suspend("awaiting-signal", [{ type: "signal", kind: "news" } as never]),
  fail: () => {
    throw new RangeError("it is out of range");
  },
  exit: (_context, code) => {
    console.log("these were my last words");
    process.exit(Number(code));
  },
  die: () => {
    process.kill(process.pid, "SIGKILL");
    return "";
  },
  hold: () => {
    const held: string[][] = [];
    for (;;) held.push(Array.from({ length: 10_000 }, (_, index) => `${index} ${held.length}`));
  },
  wait: async (context) => {
    context.emit({ type: "status", status: "it waits" });
    await new Promise<void>((resolve) => context.signal.addEventListener("abort", () => resolve()));
    return "it was aborted";
  },
  sleep: async (context) => {
    context.emit({ type: "status", status: "it sleeps" });
    return new Promise<string>(() => setInterval(() => {}, 1000));
  },
  variable: (_context, name) => process.env[name] ?? "none",
  file: (_context, name) => readFileSync(`${process.env["KEELSON_CREDENTIALS"]}/${name}`, "utf8"),
  write: (_context, path) => tried(() => writeFileSync(path, "written")),
  read: (_context, path) => tried(() => readFileSync(path, "utf8")),
  connect: async (_context, port) => {
    const socket = connect(Number(port), "127.0.0.1");
    return once(socket, "connect").then(
      () => "connected",
      (error: NodeJS.ErrnoException) => String(error.code),
    );
  },
  print: (_context, text) => {
    console.log(text);
    console.error(text);
    return "printed";
  },
  // A caller without types gives what it has.
  bigint: () => ["exact", 1917043659912705296n, new Date(0)] as never,
  shell: (_context, command) => String(spawnSync("sh", ["-c", command], { encoding: "utf8" }).stdout),
  folder: () => process.env["KEELSON_CREDENTIALS"] ?? "none",
  each: async (context, messages) => {
    const said: string[] = [];
    for (const message of JSON.parse(messages) as string[]) said.push(await doAs(message, context));
    return JSON.stringify(said);
  },
};

/** A message is the name of a deed, and after a bar its argument. */
async function doAs(message: string, context: ExecutionContext): Promise<string> {
  const [, deed = "", argument = ""] = /^([^|]*)\|?(.*)$/s.exec(message) ?? [];
  const done = deeds[deed];
  if (done === undefined) throw new Error(`There is no deed "${deed}".`);
  return done(context, argument);
}

function tried(work: () => string | void): string {
  try {
    return work() ?? "done";
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

if (process.argv[2] === "--broken") throw new Error("this module does not load");

serveOperator({
  async execute(input, context) {
    const [part] = input.message;
    return {
      message: [{ type: "text", text: await doAs(part?.type === "text" ? part.text : "", context) }],
      exitReason: { type: "complete" },
      metadata: { tokensIn: 0, tokensOut: 0, cost: ZERO_USD, turnsUsed: 0, subDispatches: [], durationMs: 0, untracked: [] },
      effects: [],
    };
  },
});
