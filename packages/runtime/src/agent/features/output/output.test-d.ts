import type { JsonValue } from "@keelson/protocol";
import { describe, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { createRunner } from "../../../index.ts";
import { scriptedModel } from "../../../testing/scripted-model.ts";
import { createAgent } from "../../definition/create-agent.ts";
import type { PartialValue } from "../../definition/output/partial-value.ts";

const model = scriptedModel([]);

describe("the output of a run", () => {
  it("has the type of its schema, which nobody writes down [AG-01, AG-14]", async () => {
    const output = z.object({ total: z.number(), lines: z.array(z.object({ text: z.string() })) });
    type Output = { total: number; lines: { text: string }[] };
    const agent = createAgent({ name: "a", model, output, outputMode: "prompt" });
    const run = createRunner({ agent }).run("go");
    expectTypeOf((await run.outcome).output).toEqualTypeOf<Output | undefined>();
    expectTypeOf((await createRunner({ agent: agent.with({ outputMode: "native" }) }).run("go").outcome).output).toEqualTypeOf<
      Output | undefined
    >();
    for await (const part of run.partialOutput()) {
      expectTypeOf(part.total).toEqualTypeOf<number | undefined>();
      expectTypeOf(part.lines?.[0]?.text).toEqualTypeOf<string | undefined>();
    }
    const several = createRunner({ agents: { a: agent, b: createAgent({ name: "b", model }) } });
    expectTypeOf((await several.run("go", { agent: "a" }).outcome).output).toEqualTypeOf<Output | undefined>();
    expectTypeOf((await several.run("go", { agent: "b" }).outcome).output).toEqualTypeOf<undefined>();
  });

  it("is a JSON value where the schema is a plain JSON Schema [AG-15]", async () => {
    const agent = createAgent({ name: "a", model, output: { type: "object", properties: { a: { type: "string" } } } });
    expectTypeOf((await createRunner({ agent }).run("go").outcome).output).toEqualTypeOf<JsonValue | undefined>();
  });

  it("has the type of a schema that stands beside its JSON Schema", async () => {
    const output = { schema: z.object({ day: z.date() }), jsonSchema: { type: "object" } };
    const agent = createAgent({ name: "a", model, output });
    expectTypeOf((await createRunner({ agent }).run("go").outcome).output).toEqualTypeOf<{ day: Date } | undefined>();
  });

  it("may be missing members at every depth while it streams", () => {
    expectTypeOf<PartialValue<{ a: number; b: { c: string[] }; d: [string, number] | null }>>().toEqualTypeOf<{
      readonly a?: number | undefined;
      readonly b?: { readonly c?: readonly string[] | undefined } | undefined;
      readonly d?: readonly (string | number)[] | null | undefined;
    }>();
  });
});
