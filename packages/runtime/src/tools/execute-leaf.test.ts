import { type Digest, type Tool, type ToolCall, ToolError } from "@keelson/protocol";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { digestOf } from "../json/index.ts";
import { createToolCall, defineTool, executeLeaf, type ToolDefinition, type LeafClock, type LeafOptions } from "./index.ts";

type Execute = (input: never, call: ToolCall) => unknown;

function leaf(execute: Execute, fields: Partial<ToolDefinition> = {}): Tool {
  return defineTool({ name: "t", description: "", input: {}, ...fields, execute: execute as ToolDefinition["execute"] });
}

/** Timers that fire when told. */
function manualClock(): LeafClock & { fire(): void; readonly pending: readonly number[] } {
  const timers = new Map<() => void, number>();
  return {
    after(ms, run) {
      const timer = (): void => run();
      timers.set(timer, ms);
      return () => timers.delete(timer);
    },
    fire() {
      const [timer] = timers.keys();
      if (timer === undefined) throw new Error("no timer is pending");
      timers.delete(timer);
      timer();
    },
    get pending() {
      return [...timers.values()];
    },
  };
}

function memoryBlobs(): Required<Pick<LeafOptions, "blobs">> & { readonly kept: Map<Digest, Uint8Array> } {
  const kept = new Map<Digest, Uint8Array>();
  return {
    kept,
    blobs: {
      async put(bytes) {
        const digest = digestOf(bytes);
        kept.set(digest, bytes);
        return digest;
      },
    },
  };
}

const hang = (): Promise<never> => new Promise(() => {});
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
beforeEach(() => {
  unhandled.length = 0;
  process.on("unhandledRejection", note);
});
afterEach(async () => {
  await turn();
  process.off("unhandledRejection", note);
  expect(unhandled).toStrictEqual([]);
});

describe("a leaf that returns", () => {
  it("gives any JSON value back as it is, as a copy [TL-01]", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        const result = await executeLeaf(
          leaf(() => value),
          {},
          createToolCall(),
        );
        expect(result).toStrictEqual({ output: JSON.parse(JSON.stringify(value)), isError: false });
      }),
    );
    const mutable = { items: [1] };
    const { output } = await executeLeaf(
      leaf(() => mutable),
      {},
      createToolCall(),
    );
    mutable.items.push(2);
    expect(output).toStrictEqual({ items: [1] });
  });

  it("gets its value, and who calls it with which key [TL-01, TL-08]", async () => {
    const call = createToolCall({ agent: "planner", idempotencyKey: "k1" });
    const tool = leaf((input, { agent, idempotencyKey }) => [input, agent, idempotencyKey]);
    expect(await executeLeaf(tool, { a: 1 }, call)).toStrictEqual({ output: [{ a: 1 }, "planner", "k1"], isError: false });
    expect(createToolCall()).toMatchObject({ agent: "", callId: "", attempt: 1, signal: { aborted: false } });
  });

  it("may return nothing", async () => {
    expect(
      await executeLeaf(
        leaf(() => undefined),
        {},
        createToolCall(),
      ),
    ).toStrictEqual({ output: "(no output)", isError: false });
  });

  it("may leave members undefined, and use objects of its own classes", async () => {
    class Row {
      id = 1;
      gone = undefined;
    }
    expect(
      await executeLeaf(
        leaf(() => [new Row(), Object.assign(Object.create(null), { a: 1 })]),
        {},
        createToolCall(),
      ),
    ).toStrictEqual({ output: [{ id: 1 }, { a: 1 }], isError: false });
  });

  it("may return parts, and mark them as an error", async () => {
    const content = [
      { type: "text", text: "a screen" },
      { type: "image", mediaType: "image/png", data: "aGk=" },
    ];
    expect(
      await executeLeaf(
        leaf(() => ({ type: "content", content })),
        {},
        createToolCall(),
      ),
    ).toStrictEqual({ output: { type: "content", content }, isError: false });
    expect(
      await executeLeaf(
        leaf(() => ({ type: "content", content, isError: true })),
        {},
        createToolCall(),
      ),
    ).toStrictEqual({ output: { type: "content", content }, isError: true });
  });

  it.each([
    [[{ type: "video" }], "no text, image or file part"],
    [[null], "no text, image or file part"],
    [[{ type: "toString" }], "no text, image or file part"],
    [[{ type: "text" }], "without `text`"],
    [[{ type: "image", data: "" }], "without `mediaType`"],
    [[{ type: "image", mediaType: "image/png" }], "exactly one of"],
    [[{ type: "image", mediaType: "image/png", data: "a", url: "b" }], "exactly one of"],
  ])("is told when its parts are none: %j", async (content, message) => {
    const result = await executeLeaf(
      leaf(() => ({ type: "content", content })),
      {},
      createToolCall(),
    );
    expect(result).toMatchObject({ isError: true, failure: { kind: "execution-failed", message: expect.stringContaining(message) } });
  });

  it("is held to its output schema", async () => {
    const output = { type: "object", properties: { total: { type: "number" } }, required: ["total"] };
    expect(
      await executeLeaf(
        leaf(() => ({ total: 1 }), { output }),
        {},
        createToolCall(),
      ),
    ).toStrictEqual({ output: { total: 1 }, isError: false });
    const bad = await executeLeaf(
      leaf(() => ({ total: "1" }), { output }),
      {},
      createToolCall(),
    );
    expect(bad).toMatchObject({
      isError: true,
      failure: { kind: "execution-failed", message: expect.stringContaining('total: expected a number, got "1"') },
    });
    expect(
      await executeLeaf(
        leaf(() => undefined, { output }),
        {},
        createToolCall(),
      ),
    ).toMatchObject({ isError: true });
  });
});

describe("a leaf that returns what JSON cannot hold", () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;

  it.each<[string, unknown, unknown]>([
    ["a cycle", { a: [cycle] }, { a: [{ self: "[circular]" }] }],
    ["a bigint", { n: 1917043659912705296n }, { n: "1917043659912705296" }],
    ["a bigint alone", 5n, "5"],
    ["a Date", [new Date(0)], ["1970-01-01T00:00:00.000Z"]],
    ["an invalid Date", { at: new Date(Number.NaN) }, { at: null }],
    ["a Map", new Map([["a", 1]]), { a: 1 }],
    ["bytes", { bytes: new Uint8Array(1) }, { bytes: "AA==" }],
    ["an Error", new Error("x"), { name: "Error", message: "x" }],
    ["a function", { f: () => 1 }, {}],
    ["a symbol", Symbol("s"), null],
    ["NaN", { ratio: Number.NaN }, { ratio: null }],
    ["undefined in a list", [undefined], [null]],
    ["a promise inside", { later: Promise.resolve(1) }, { later: "[promise]" }],
    ["something with toJSON", { url: new URL("https://example.com") }, { url: "https://example.com/" }],
    ["a toJSON that throws", { a: { toJSON: () => JSON.parse("{") as unknown } }, { a: expect.stringContaining("[not readable: ") }],
    [
      "a getter that throws",
      {
        get a(): never {
          throw new Error("no");
        },
      },
      { a: "[not readable: no]" },
    ],
  ])("gives it as JSON, and its call has a result: %s", async (_, value, output) => {
    const result = await executeLeaf(
      leaf(() => value),
      {},
      createToolCall(),
    );
    expect(result).toEqual({ output, isError: false });
  });

  it("ends where its output is nested without end, and is told of one that nobody could read", async () => {
    let deep: unknown[] = [];
    for (let depth = 0; depth < 100_000; depth++) deep = [deep];
    const nested = await executeLeaf(
      leaf(() => deep),
      {},
      createToolCall(),
    );
    expect(nested).toMatchObject({ isError: false, output: expect.anything() });
    expect(JSON.stringify(nested.output)).toContain("[too deep]");
    const large = await executeLeaf(
      leaf(() => new Array(100_000_000)),
      {},
      createToolCall(),
    );
    expect(large).toMatchObject({ isError: true, output: expect.stringContaining("ran, but its output cannot be used: it has more than") });
  });

  it("holds bytes of images as base64", async () => {
    const content = [{ type: "image", mediaType: "image/png", data: new Uint8Array([1, 2, 3]) }];
    const result = await executeLeaf(
      leaf(() => ({ type: "content", content })),
      {},
      createToolCall(),
    );
    expect(result).toEqual({ output: { type: "content", content: [{ ...content[0], data: "AQID" }] }, isError: false });
  });

  it("may return one object twice, which is no cycle", async () => {
    const shared = { a: 1 };
    expect(
      await executeLeaf(
        leaf(() => [shared, shared]),
        {},
        createToolCall(),
      ),
    ).toStrictEqual({ output: [shared, shared], isError: false });
  });
});

describe("a leaf that throws", () => {
  it.each([
    ["no such file", () => new Error("no such file")],
    ["not found (ENOENT)", () => Object.assign(new Error("not found"), { code: "ENOENT" })],
    ["fetch failed: connect ECONNREFUSED", () => new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") })],
    ["Error", () => new Error("")],
    ["text", () => "text"],
    ["42", () => 42],
    ["an error without a message", () => undefined],
    ["an error without a message", () => null],
    ["an object", () => ({ message: "an object" })],
    ['{"code":7}', () => ({ code: 7 })],
    ["Symbol(s)", () => Symbol("s")],
    [
      "an error that cannot be described",
      () => ({
        get message(): string {
          throw new Error("again");
        },
      }),
    ],
  ])("fails in words, at once or later, whatever it throws: %s [TL-05]", async (words, create) => {
    const thrown = create();
    const expected = {
      output: `The tool "t" failed: ${words}`,
      isError: true,
      failure: { kind: "execution-failed", tool: "t", message: `The tool "t" failed: ${words}` },
    };
    expect(
      await executeLeaf(
        leaf(() => {
          throw thrown;
        }),
        {},
        createToolCall(),
      ),
    ).toStrictEqual(expected);
    expect(
      await executeLeaf(
        leaf(() => Promise.reject(thrown)),
        {},
        createToolCall(),
      ),
    ).toStrictEqual(expected);
  });

  it("may say which failure it is", async () => {
    const failure = { kind: "invalid-input" as const, tool: "t", issues: ["a"], message: "a is wrong" };
    expect(
      await executeLeaf(
        leaf(() => {
          throw new ToolError(failure);
        }),
        {},
        createToolCall(),
      ),
    ).toStrictEqual({ output: "a is wrong", isError: true, failure });
  });

  it("cannot flood the model with its message", async () => {
    const result = await executeLeaf(
      leaf(
        () => {
          throw new Error("x".repeat(1_000_000));
        },
        { maxOutputBytes: 1_000 },
      ),
      {},
      createToolCall(),
    );
    expect(String(result.output).length).toBeLessThanOrEqual(1_000);
    expect(result.failure?.message.length).toBeLessThanOrEqual(1_000);
  });

  it("fails when what it returns only looks like a promise", async () => {
    const thenable = {
      get then(): never {
        throw new Error("trap");
      },
    };
    expect(
      await executeLeaf(
        leaf(() => thenable),
        {},
        createToolCall(),
      ),
    ).toMatchObject({ isError: true, output: 'The tool "t" failed: trap' });
  });
});

describe("a leaf that takes too long", () => {
  it("gets its signal, and after the grace is left behind", async () => {
    const clock = manualClock();
    let signal: AbortSignal | undefined;
    const tool = leaf(
      (_, call) => {
        signal = call.signal;
        return hang();
      },
      { timeoutMs: 1_000 },
    );
    const result = executeLeaf(tool, {}, createToolCall(), { clock, graceMs: 50 });
    expect(clock.pending).toStrictEqual([1_000]);
    clock.fire();
    expect(signal?.aborted).toBe(true);
    expect((signal?.reason as Error).name).toBe("TimeoutError");
    expect(clock.pending).toStrictEqual([50]);
    clock.fire();
    expect(await result).toMatchObject({
      isError: true,
      failure: { kind: "timeout", timeoutMs: 1_000 },
      output: expect.stringContaining("check before trying again"),
    });
    expect(clock.pending).toStrictEqual([]);
  });

  it("is not suspected of leftovers when it only reads", async () => {
    const clock = manualClock();
    const result = executeLeaf(leaf(hang, { timeoutMs: 5, effect: "read" }), {}, createToolCall(), { clock, graceMs: 0 });
    clock.fire();
    expect((await result).output).toBe('The tool "t" did not finish within 5 ms and was stopped.');
  });

  it("may still say what it did, within the grace", async () => {
    const clock = manualClock();
    const tool = leaf((_, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve("half of it"))), {
      timeoutMs: 5,
    });
    const result = executeLeaf(tool, {}, createToolCall(), { clock });
    clock.fire();
    expect(await result).toStrictEqual({ output: "half of it", isError: false });
    expect(clock.pending).toStrictEqual([]);
  });

  it("is said to have run out of time, however it dies of that", async () => {
    const clock = manualClock();
    const tool = leaf(
      (_, { signal }) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("EPIPE")))),
      { timeoutMs: 5 },
    );
    const result = executeLeaf(tool, {}, createToolCall(), { clock });
    clock.fire();
    expect(await result).toMatchObject({ failure: { kind: "timeout" } });
  });

  it("leaves no timer behind when it was in time", async () => {
    const clock = manualClock();
    await executeLeaf(
      leaf(() => "done", { timeoutMs: 5 }),
      {},
      createToolCall(),
      { clock },
    );
    expect(clock.pending).toStrictEqual([]);
  });
});

describe("a leaf of an aborted run", () => {
  it("does not start", async () => {
    let started = false;
    const result = await executeLeaf(
      leaf(() => {
        started = true;
      }),
      {},
      createToolCall({ signal: AbortSignal.abort() }),
    );
    expect(result).toMatchObject({ isError: true, failure: { kind: "cancelled" } });
    expect(started).toBe(false);
  });

  it("that ignores its signal is left behind: what it returns, throws or reports later is dropped", async () => {
    for (const ending of ["return", "throw"] as const) {
      const clock = manualClock();
      const controller = new AbortController();
      const reports: string[] = [];
      const settle = Promise.withResolvers<string>();
      let report: ToolCall["progress"] | undefined;
      const tool = leaf((_, call) => {
        report = call.progress;
        return settle.promise;
      });
      const result = executeLeaf(
        tool,
        {},
        createToolCall({ signal: controller.signal, progress: (message) => void reports.push(message) }),
        { clock },
      );
      report?.("before");
      controller.abort();
      clock.fire();
      expect(await result).toMatchObject({ isError: true, failure: { kind: "cancelled" } });
      report?.("after");
      if (ending === "return") settle.resolve("late");
      else settle.reject(new Error("late"));
      await turn();
      expect(reports).toStrictEqual(["before"]);
    }
  });

  it("with a limit of its own is cancelled by the run's signal as well", async () => {
    const clock = manualClock();
    const controller = new AbortController();
    let reason: unknown;
    const tool = leaf(
      (_, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => {
            reason = signal.reason;
            reject(new Error("stopped"));
          }),
        ),
      { timeoutMs: 1_000 },
    );
    const result = executeLeaf(tool, {}, createToolCall({ signal: controller.signal }), { clock });
    controller.abort("enough");
    expect(await result).toMatchObject({ failure: { kind: "cancelled" } });
    expect(reason).toBe("enough");
    expect(clock.pending).toStrictEqual([]);
  });

  it("goes on when it is only asked to stop soon", async () => {
    const stopping = new AbortController();
    const settle = Promise.withResolvers<string>();
    const result = executeLeaf(
      leaf((_, call) => settle.promise.then((text) => `${text}, ${call.stopping.aborted}`)),
      {},
      createToolCall({ stopping: stopping.signal }),
    );
    stopping.abort();
    settle.resolve("finished");
    expect(await result).toStrictEqual({ output: "finished, true", isError: false });
  });

  it("takes its listener off the run's signal, thousands of calls long", async () => {
    const controller = new AbortController();
    let listeners = 0;
    const { signal } = controller;
    const counted = new Proxy(signal, {
      get(target, key) {
        if (key === "addEventListener")
          return (...args: Parameters<AbortSignal["addEventListener"]>) => {
            listeners++;
            target.addEventListener(...args);
          };
        if (key === "removeEventListener")
          return (...args: Parameters<AbortSignal["removeEventListener"]>) => {
            listeners--;
            target.removeEventListener(...args);
          };
        return Reflect.get(target, key, target) as unknown;
      },
    });
    for (let count = 0; count < 100; count++)
      await executeLeaf(
        leaf(() => count),
        {},
        createToolCall({ signal: counted }),
      );
    expect(listeners).toBe(0);
  });
});

describe("an output over the limit", () => {
  it("shows head and tail, with the whole kept as a blob [2.10]", async () => {
    const store = memoryBlobs();
    const text = Array.from({ length: 1_000 }, (_, index) => `line ${index} é`).join("\n");
    const result = await executeLeaf(
      leaf(() => text, { maxOutputBytes: 500 }),
      {},
      createToolCall(),
      store,
    );
    expect(Buffer.byteLength(String(result.output))).toBeLessThanOrEqual(500);
    expect(result.output).toMatch(/^line 0 é\n[^]*\[\.\.\. \d+ lines omitted \.\.\.\]\n[^]*line 999 é$/);
    expect(result.isError).toBe(false);
    expect(Buffer.from(store.kept.get(result.blob as Digest) ?? []).toString()).toBe(text);
  });

  it("of JSON is shown as its text, and kept as JSON", async () => {
    const store = memoryBlobs();
    const value = { rows: Array.from({ length: 500 }, (_, id) => ({ id })) };
    const result = await executeLeaf(
      leaf(() => value, { maxOutputBytes: 300 }),
      {},
      createToolCall(),
      store,
    );
    expect(result.output).toMatch(/^\{"rows":\[\{"id":0\}/);
    expect(JSON.parse(Buffer.from(store.kept.get(result.blob as Digest) ?? []).toString())).toStrictEqual(value);
  });

  it("of parts cuts the longest texts and leaves the others and the images", async () => {
    const store = memoryBlobs();
    const image = { type: "image", mediaType: "image/png", data: "A".repeat(10_000) };
    const content = [
      { type: "text", text: "short" },
      image,
      { type: "text", text: "x".repeat(5_000) },
      { type: "text", text: "y".repeat(5_000) },
    ];
    const result = await executeLeaf(
      leaf(() => ({ type: "content", content }), { maxOutputBytes: 1_000 }),
      {},
      createToolCall(),
      store,
    );
    const shown = (result.output as unknown as { content: { type: string; text?: string }[] }).content;
    expect(shown[0]).toStrictEqual(content[0]);
    expect(shown[1]).toStrictEqual(image);
    expect(Buffer.byteLength(shown.map((part) => part.text ?? "").join(""))).toBeLessThanOrEqual(1_000);
    expect(shown[3]?.text?.length).toBeGreaterThan(400);
    expect(JSON.parse(Buffer.from(store.kept.get(result.blob as Digest) ?? []).toString())).toStrictEqual({ type: "content", content });
  });

  it("is still a result when the whole cannot be kept", async () => {
    const text = "x".repeat(1_000);
    const broken: LeafOptions = { blobs: { put: () => Promise.reject(new Error("disk full")) } };
    expect(
      await executeLeaf(
        leaf(() => text, { maxOutputBytes: 100 }),
        {},
        createToolCall(),
        broken,
      ),
    ).toMatchObject({ isError: false, warning: "The whole output of 1000 bytes could not be kept: disk full" });
    const small = { ...memoryBlobs(), maxBlobBytes: 999 };
    expect(
      await executeLeaf(
        leaf(() => text, { maxOutputBytes: 100 }),
        {},
        createToolCall(),
        small,
      ),
    ).toMatchObject({ isError: false, warning: expect.stringContaining("maxBlobBytes") });
    expect(small.kept.size).toBe(0);
    expect(
      await executeLeaf(
        leaf(() => text, { maxOutputBytes: 100 }),
        {},
        createToolCall(),
      ),
    ).not.toHaveProperty("blob");
  });

  it("in images is refused", async () => {
    const result = await executeLeaf(
      leaf(() => ({ type: "content", content: [{ type: "image", mediaType: "image/png", data: "A".repeat(101) }] })),
      {},
      createToolCall(),
      { maxMediaBytes: 100 },
    );
    expect(result).toMatchObject({ isError: true, failure: { message: expect.stringContaining("the limit is 100") } });
  });

  it("replaces half characters, which vendors refuse", async () => {
    expect(
      (
        await executeLeaf(
          leaf(() => "a\ud83d"),
          {},
          createToolCall(),
        )
      ).output,
    ).toBe("a\ufffd");
  });
});
