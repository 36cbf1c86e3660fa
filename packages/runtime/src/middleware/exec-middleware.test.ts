import { EnvironmentError, type EnvironmentSpec, type OperatorInput } from "@keelson/protocol";
import { mockEnvironment, mockExecutionContext } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { createExecStack, withExecMiddleware, type ExecMiddleware } from "./exec-middleware.ts";

const input: OperatorInput = { message: [{ type: "text", text: "build" }], trigger: "task", metadata: {} };
const open: EnvironmentSpec = { isolation: [], credentials: [] };
const { context } = mockExecutionContext();

/** Adds a boundary to whatever runs. */
const isolating: ExecMiddleware = {
  name: "isolating",
  run: (given, spec, next) => next(given, { ...spec, isolation: [...spec.isolation, { type: "process" }] }),
};
const offline: ExecMiddleware = {
  name: "offline",
  async run(_input, spec, next) {
    if (spec.network?.default === "allow") throw new EnvironmentError({ kind: "isolation-violation", message: "no network here" });
    return next();
  },
};

describe("exec middleware", () => {
  it("wraps Environment.run with (input, spec, next): transformers before guards, around what the environment does [BM-01, BM-03, BM-04]", async () => {
    const environment = mockEnvironment(["built"]);
    const seen: unknown[] = [];
    const stack = createExecStack()
      .guard(offline)
      .transform(isolating)
      .observe({ name: "seen", run: async (given, spec, next, { runId }) => seen.push(given, spec, runId, (await next()).exitReason) })
      .build();
    const output = await withExecMiddleware(environment, stack).run(input, open, context);
    expect(output.message).toEqual([{ type: "text", text: "built" }]);
    expect(environment.runs).toEqual([{ input, spec: { isolation: [{ type: "process" }], credentials: [] } }]);
    expect(seen).toEqual([input, open, context.runId, { type: "complete" }]);
  });

  it("hands on what the environment opens for tools", async () => {
    const opening = { ...mockEnvironment([]), open: async () => ({ [Symbol.asyncDispose]: async () => {} }) };
    const wrapped = withExecMiddleware(opening, createExecStack().guard(offline).build());
    expect(wrapped.open).toBeDefined();
    expect(withExecMiddleware(mockEnvironment([]), createExecStack().build()).open).toBeUndefined();
  });

  it("refuses in the environment's own words; nothing runs [BM-02, BM-04]", async () => {
    const environment = mockEnvironment(["built"]);
    const guarded = withExecMiddleware(environment, createExecStack().guard(offline).build());
    const run = guarded.run(input, { ...open, network: { default: "allow", rules: [] } }, context);
    await expect(run).rejects.toMatchObject({ name: "EnvironmentError", failure: { kind: "isolation-violation" } });
    expect(environment.runs).toEqual([]);
  });

  it("fails as an EnvironmentError that names the middleware which threw", async () => {
    const broken: ExecMiddleware = { name: "broken", run: () => Promise.reject(new Error("no disk")) };
    const silent: ExecMiddleware = { name: "silent", run: async () => ({}) as never };
    for (const [middleware, message] of [
      [broken, 'The middleware "broken" failed: no disk'],
      [silent, /"silent" did not call next/],
    ] as const) {
      const guarded = withExecMiddleware(mockEnvironment(["built"]), createExecStack().transform(middleware).build());
      await expect(guarded.run(input, open, context)).rejects.toThrow(message);
      await expect(guarded.run(input, open, context)).rejects.toBeInstanceOf(EnvironmentError);
    }
  });
});
