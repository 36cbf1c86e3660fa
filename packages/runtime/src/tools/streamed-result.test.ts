import { Readable } from "node:stream";
import type { ToolCall } from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { createToolCall, defineTool, executeLeaf, type LeafOptions } from "./index.ts";

type Reported = readonly [message: string, ratio?: number];

/** Runs a tool with this `execute`, and returns its result and its reports. */
async function run(
  execute: () => unknown,
  { signal, options = {} }: { readonly signal?: AbortSignal; readonly options?: LeafOptions } = {},
) {
  const reported: Reported[] = [];
  const tool = defineTool({ name: "count", description: "", input: {}, execute: execute as never });
  const progress: ToolCall["progress"] = (message, ratio) => void reported.push(ratio === undefined ? [message] : [message, ratio]);
  const result = await executeLeaf(tool, {}, createToolCall({ progress, ...(signal && { signal }) }), options);
  return { ...result, reported };
}

describe("a tool whose execute is a generator", () => {
  it("reports its yields as progress and gives its return as the result", async () => {
    const { output, isError, reported } = await run(async function* () {
      yield "reading";
      yield { message: "half", ratio: 0.5 };
      yield { rows: 3 };
      return { rows: 7 };
    });
    expect([output, isError]).toEqual([{ rows: 7 }, false]);
    expect(reported).toEqual([["reading"], ["half", 0.5], ['{"rows":3}']]);
  });

  it("gives its last yield as the result if it returns nothing, unless that is a report with a ratio", async () => {
    const last = await run(async function* () {
      yield { status: "loading" };
      yield { status: "success", celsius: 7 };
    });
    expect(last.output).toEqual({ status: "success", celsius: 7 });
    const report = await run(async function* () {
      yield { message: "all of it", ratio: 1 };
    });
    expect([report.output, report.reported]).toEqual(["(no output)", [["all of it", 1]]]);
    const empty = await run(async function* () {});
    expect([empty.output, empty.isError]).toEqual(["(no output)", false]);
    const none = await run(async function* () {
      yield "some";
      return null;
    });
    expect(none.output).toBe(null);
  });

  it("may be a synchronous generator, or a function that returns or promises an async iterable", async () => {
    const numbers = function* () {
      yield 1;
      yield Promise.resolve(2);
      return 3;
    };
    expect(await run(numbers)).toMatchObject({ output: 3, reported: [["1"], ["2"]] });
    const iterable = {
      [Symbol.asyncIterator]() {
        let left = 2;
        return { next: async () => (left-- > 0 ? { done: false, value: `at ${left}` } : { done: true, value: undefined }) };
      },
    };
    expect(await run(() => iterable)).toMatchObject({ output: "at 0", reported: [["at 1"], ["at 0"]] });
    expect(await run(async () => iterable)).toMatchObject({ output: "at 0" });
  });

  it("gives the whole text of a stream of text or bytes, and the last chunk of another stream", async () => {
    const bytes = new TextEncoder().encode("grüße");
    const cut = [bytes.slice(0, 3), bytes.slice(3)];
    expect((await run(() => ReadableStream.from(cut))).output).toBe("grüße");
    expect((await run(() => ReadableStream.from(["a", "b"]))).output).toBe("ab");
    expect((await run(() => Readable.from(cut, { objectMode: false }))).output).toBe("grüße");
    expect((await run(() => ReadableStream.from([{ n: 1 }, { n: 2 }]))).output).toEqual({ n: 2 });
  });

  it("fails if it throws, at any yield or after a rejection, and runs its finally block", async () => {
    const ended: string[] = [];
    const thrown = await run(async function* () {
      try {
        yield "one";
        throw new Error("no more");
      } finally {
        ended.push("finally");
      }
    });
    expect(thrown).toMatchObject({ isError: true, output: 'The tool "count" failed: no more', reported: [["one"]] });
    const rejected = await run(function* () {
      try {
        yield Promise.reject(new Error("refused"));
      } finally {
        ended.push("finally too");
      }
    });
    expect(rejected).toMatchObject({ isError: true, output: 'The tool "count" failed: refused' });
    expect(ended).toEqual(["finally", "finally too"]);
  });

  it("is ended if its call is cancelled, so that its finally block runs; what that returns counts", async () => {
    for (const returned of [undefined, "closed the file"]) {
      const controller = new AbortController();
      const ended: string[] = [];
      const running = run(
        async function* () {
          try {
            yield "open";
            controller.abort(new Error("stop"));
            await Promise.resolve();
            yield "never the result";
          } finally {
            ended.push("closed");
            // oxlint-disable-next-line no-unsafe-finally
            if (returned !== undefined) return returned;
          }
        },
        { signal: controller.signal },
      );
      const { failure, output } = await running;
      expect(ended).toEqual(["closed"]);
      if (returned === undefined) expect(failure?.kind).toBe("cancelled");
      else expect(output).toBe(returned);
    }
  });

  it("cancels a stream whose call is cancelled while it waits for the next chunk", async () => {
    const controller = new AbortController();
    let cancelled = false;
    const stream = new ReadableStream({
      start: (source) => source.enqueue("one"),
      cancel: () => void (cancelled = true),
    });
    const running = run(() => stream, { signal: controller.signal });
    await new Promise((resolve) => void setImmediate(resolve));
    controller.abort(new Error("stop"));
    expect((await running).failure?.kind).toBe("cancelled");
    expect(cancelled).toBe(true);
  });

  it("lets its time limit and its cancellation through if it yields without waiting, and reports a bounded number of its yields", async () => {
    for (const forever of [
      async function* () {
        for (let number = 0; ; number++) yield number;
      },
      function* () {
        for (let number = 0; ; number++) yield number;
      },
    ]) {
      const controller = new AbortController();
      setImmediate(() => setImmediate(() => setImmediate(() => controller.abort(new Error("stop")))));
      const { failure, reported } = await run(forever, { signal: controller.signal });
      expect(failure?.kind).toBe("cancelled");
      expect(reported.length).toBeLessThan(200);
    }
    const { reported, output } = await run(async function* () {
      for (let number = 1; number <= 90; number++) yield number;
      return "done";
    });
    expect([output, reported.length, reported.at(-1)]).toEqual(["done", 17, ["90"]]);
  });

  it("reports values that are no JSON as text, and cuts long ones", async () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    const { reported, output } = await run(async function* () {
      yield cycle;
      yield undefined;
      yield "";
      yield 10n;
      yield "x".repeat(100_000);
      return "done";
    });
    expect(output).toBe("done");
    expect(reported.length).toBe(3);
    expect(reported.every(([message]) => message.length < 5_000)).toBe(true);
  });

  it("has this, its input and its call like any other execute", async () => {
    const tool = defineTool({
      name: "own",
      description: "",
      input: { type: "object", properties: { n: { type: "number" } } },
      async *execute({ n }, { agent }) {
        yield "on it";
        return [this.name, n ?? null, agent];
      },
    });
    expect((await executeLeaf(tool, { n: 2 }, createToolCall({ agent: "a" }))).output).toEqual(["own", 2, "a"]);
  });
});
