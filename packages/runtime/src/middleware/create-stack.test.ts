import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createStack, type Middleware, type MiddlewareReport, type Observer } from "./create-stack.ts";

type Text = Middleware<string, string>;

const around = (name: string, calls: string[]): Text => ({
  name,
  async handle(request, next) {
    calls.push(`${name} before`);
    const response = await next(request);
    calls.push(`${name} after`);
    return response;
  },
});

const kinds = ["observe", "transform", "guard"] as const;
const added = fc.array(fc.constantFrom(...kinds), { maxLength: 12 });

function collect(seen: MiddlewareReport[] = []) {
  return { seen, report: (failure: MiddlewareReport) => void seen.push(failure) };
}

afterEach(() => void vi.restoreAllMocks());

describe("a stack of middleware", () => {
  it("calls observers, then transformers, then guards, each in the order in which they were added, and unwinds in reverse [BM-06]", async () => {
    await fc.assert(
      fc.asyncProperty(added, async (order) => {
        const calls: string[] = [];
        let builder = createStack<string, string>();
        order.forEach((kind, index) => (builder = builder[kind](around(`${kind}${index}`, calls))));
        const stack = builder.build();
        const response = await stack.run("request", async (request) => {
          calls.push("terminal");
          return `${request} answered`;
        });
        const names = kinds.flatMap((kind) => order.flatMap((each, index) => (each === kind ? [`${kind}${index}`] : [])));
        expect(stack.names).toEqual(names);
        expect(calls).toEqual([...names.map((name) => `${name} before`), "terminal", ...names.toReversed().map((name) => `${name} after`)]);
        expect(response).toBe("request answered");
      }),
    );
  });

  it("lets transformers change request and response; each sees what those around it made, observers what the caller sees [BM-02, BM-06]", async () => {
    await fc.assert(
      fc.asyncProperty(added, async (order) => {
        const seen: string[] = [];
        let builder = createStack<string, string>();
        order.forEach((kind, index) => {
          if (kind === "observe") {
            const observer: Observer<string, string> = {
              name: `o${index}`,
              async handle(request, next) {
                seen.push(request, await next());
                return "ignored";
              },
            };
            builder = builder.observe(observer);
          } else {
            builder = builder[kind]({
              name: `m${index}`,
              handle: async (request, next) => `${index}(${await next(`${request}>${index}`)})`,
            });
          }
        });
        const response = await builder.build().run("r", async (request) => request);
        const changing = kinds.slice(1).flatMap((kind) => order.flatMap((each, index) => (each === kind ? [index] : [])));
        const inner = ["r", ...changing].join(">");
        expect(response).toBe(changing.reduceRight((text, index) => `${index}(${text})`, inner));
        expect(new Set(seen)).toEqual(new Set(order.includes("observe") ? ["r", response] : []));
      }),
    );
  });

  it("ends at the guard that responds: nothing inside it is called, everything outside sees its response [BM-02, BM-06]", async () => {
    await fc.assert(
      fc.asyncProperty(added, fc.nat(), async (order, at) => {
        const guards = order.flatMap((kind, index) => (kind === "guard" ? [index] : []));
        fc.pre(guards.length > 0);
        const chosen = guards[at % guards.length];
        const calls: string[] = [];
        let builder = createStack<string, string>();
        order.forEach((kind, index) => {
          const response: Text = { name: `${kind}${index}`, handle: async () => "from the guard" };
          builder = builder[kind](index === chosen ? response : around(`${kind}${index}`, calls));
        });
        const stack = builder.build();
        expect(await stack.run("request", async () => expect.unreachable("the terminal was called"))).toBe("from the guard");
        const outside = stack.names.slice(0, stack.names.indexOf(`guard${chosen}`));
        expect(calls).toEqual([...outside.map((name) => `${name} before`), ...outside.toReversed().map((name) => `${name} after`)]);
      }),
    );
  });

  it("leaves a builder as it was when something is added to it", () => {
    const base = createStack<string, string>().guard(around("first", []));
    base.guard(around("second", []));
    expect(base.build().names).toEqual(["first"]);
  });

  it("without middleware is the call itself", async () => {
    const response = Promise.resolve("answer");
    expect(
      createStack<string, string>()
        .build()
        .run("request", () => response),
    ).toBe(response);
  });

  it("serves many calls at once, each with its own next", async () => {
    const stack = createStack<string, string>().transform(around("t", [])).guard(around("g", [])).build();
    expect(await Promise.all(["a", "b", "c"].map((text) => stack.run(text, async (request) => request)))).toEqual(["a", "b", "c"]);
  });
});

describe("an observer", () => {
  it("that throws, before or after the call, changes nothing, and is reported [BM-06]", async () => {
    const { seen, report } = collect();
    const early: Observer<string, string> = {
      name: "early",
      handle() {
        throw new Error("no pen");
      },
    };
    const late: Observer<string, string> = {
      name: "late",
      async handle(_request, next) {
        await next();
        throw new Error("no paper");
      },
    };
    let terminals = 0;
    const stack = createStack<string, string>({ report }).observe(early).observe(late).build();
    expect(await stack.run("a", async () => `${++terminals}`)).toBe("1");
    expect(seen.map(({ middleware, error }) => `${middleware}: ${(error as Error).message}`)).toEqual(["early: no pen", "late: no paper"]);
  });

  it("that never asks for the outcome, asks twice or passes something on cannot change the call [BM-06]", async () => {
    const requests: string[] = [];
    const silent: Observer<string, string> = { name: "silent", handle: () => {} };
    const curious: Observer<string, string> = {
      name: "curious",
      handle: async (_request, next) => [await next(), await next()],
    };
    const meddling = around("meddling", []);
    const meddler: Observer<string, string> = {
      name: "meddler",
      handle: async (request, next) =>
        `${await meddling.handle(request, () => (next as (other: string) => Promise<string>)("other"))} changed`,
    };
    const stack = createStack<string, string>().observe(silent).observe(curious).observe(meddler).build();
    const response = await stack.run("request", async (request) => {
      requests.push(request);
      return "response";
    });
    expect({ requests, response }).toEqual({ requests: ["request"], response: "response" });
  });

  it("sees that a call failed without failing itself: the caller gets that failure, nothing is reported", async () => {
    const { seen, report } = collect();
    const refusal = new Error("refused");
    const outcomes: unknown[] = [];
    const watching: Observer<string, string> = {
      name: "watching",
      async handle(_request, next) {
        await next().catch((error: unknown) => outcomes.push(error));
      },
    };
    const stack = createStack<string, string>({ report })
      .observe(around("plain", []))
      .observe({ name: "careless", handle: (_request, next) => void next() })
      .observe(watching)
      .build();
    await expect(stack.run("request", () => Promise.reject(refusal))).rejects.toBe(refusal);
    expect({ outcomes, seen }).toEqual({ outcomes: [refusal], seen: [] });
  });

  it("is waited for, so that what it writes stands before the caller goes on", async () => {
    const lines: string[] = [];
    const writer: Observer<string, string> = {
      name: "writer",
      async handle(_request, next) {
        await next();
        await Promise.resolve();
        await Promise.resolve();
        lines.push("written");
      },
    };
    await createStack<string, string>()
      .observe(writer)
      .build()
      .run("request", async () => "done");
    expect(lines).toEqual(["written"]);
  });

  it("is reported as a warning of the process by default, and so is a report that fails", async () => {
    const warnings: string[] = [];
    vi.spyOn(process, "emitWarning").mockImplementation((warning) => void warnings.push(String(warning)));
    const failing: Observer<string, string> = { name: "failing", handle: () => Promise.reject(new Error("disk full")) };
    await createStack<string, string>()
      .observe(failing)
      .build()
      .run("a", async () => "b");
    const report = (): void => {
      throw new Error("nobody listens");
    };
    await createStack<string, string>({ report })
      .observe(failing)
      .build()
      .run("a", async () => "b");
    expect(warnings).toEqual([
      expect.stringMatching(/"failing" failed.*disk full/),
      expect.stringMatching(/"failing" failed.*disk full/),
      expect.stringMatching(/"report" failed.*nobody listens/),
    ]);
  });
});

describe("a transformer or guard", () => {
  const run = (middleware: Text, kind: "transform" | "guard", terminal: (request: string) => Promise<string>): Promise<string> =>
    createStack<string, string>()[kind](middleware).build().run("request", terminal);

  it("goes on once: a second next is refused, and the call fails even when the refusal is caught or not looked at", async () => {
    for (const kind of ["transform", "guard"] as const) {
      for (const second of [
        async (next: () => Promise<string>) => next(),
        async (next: () => Promise<string>) => next().catch(() => "swallowed"),
        async (next: () => Promise<string>) => {
          void next();
          return "not looked at";
        },
      ]) {
        let terminals = 0;
        const eager: Text = { name: "eager", handle: async (request, next) => (await next(request), second(() => next(request))) };
        await expect(run(eager, kind, async () => `${++terminals}`)).rejects.toThrow('"eager" called next twice');
        expect(terminals).toBe(1);
      }
    }
  });

  it("that responds before its next is through is waited for", async () => {
    let finish = (): void => {};
    let isDone = false;
    const hasty: Text = { name: "hasty", handle: async (request, next) => (void next(request), "hasty answer") };
    const call = run(hasty, "transform", async () => {
      await new Promise<void>((resolve) => (finish = resolve));
      isDone = true;
      return "response";
    });
    const first = await Promise.race([
      call,
      Promise.resolve().then(() => new Promise<string>((resolve) => queueMicrotask(() => resolve("still waiting")))),
    ]);
    expect(first).toBe("still waiting");
    finish();
    expect(await call).toBe("hasty answer");
    expect(isDone).toBe(true);
  });

  it("that does not await its next does not hide that it failed", async () => {
    const refusal = new Error("refused");
    const hasty: Text = { name: "hasty", handle: async (request, next) => (void next(request), "all is well") };
    for (const kind of ["transform", "guard"] as const) {
      const call = run(hasty, kind, async () => {
        await Promise.resolve();
        throw refusal;
      });
      await expect(call).rejects.toBe(refusal);
    }
  });

  it("may turn a failure into a response, or a response into a failure", async () => {
    const forgiving: Text = { name: "forgiving", handle: (request, next) => next(request).catch(() => "forgiven") };
    expect(await run(forgiving, "transform", () => Promise.reject(new Error("refused")))).toBe("forgiven");
    const strict: Text = {
      name: "strict",
      async handle(request, next) {
        await next(request);
        throw new Error("too long");
      },
    };
    await expect(run(strict, "transform", async () => "response")).rejects.toThrow("too long");
  });

  it("that throws while its next is under way fails when that is over", async () => {
    let isDone = false;
    const hasty: Text = {
      name: "hasty",
      handle(request, next) {
        void next(request);
        throw new Error("changed my mind");
      },
    };
    const call = run(hasty, "guard", async () => {
      await new Promise(setImmediate);
      isDone = true;
      return "response";
    });
    await expect(call).rejects.toThrow("changed my mind");
    expect(isDone).toBe(true);
  });

  it("must go on when it is a transformer; a guard need not", async () => {
    const silent: Text = { name: "silent", handle: async () => "answer" };
    await expect(run(silent, "transform", async () => "response")).rejects.toThrow('The transformer "silent" did not call next');
    expect(await run(silent, "guard", async () => "response")).toBe("answer");
  });
});
