import { describe, expect, it } from "vitest";
import { createJsonSchemaValidator } from "../../../schema/index.ts";
import { outputSchema, unwrapOutput } from "./output-schema.ts";

const tree = {
  $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" }, name: { type: "string" } }, required: ["name"] } },
  $ref: "#/$defs/node",
};

describe("what a model is asked for", () => {
  it.each([[{ type: "object", properties: { a: {} } }], [{ anyOf: [{ type: "object" }, { type: "object" }] }], [tree]])(
    "is an object as it is: %j",
    (schema) => {
      expect(outputSchema(schema)).toEqual({ schema: { ...schema, type: "object" }, wrapped: false });
    },
  );

  it.each([
    ["a list", { type: "array", items: { type: "number" } }, [1], ["x"]],
    ["anything", {}, 1, undefined],
    ["an object or nothing", { anyOf: [{ type: "object" }, { type: "null" }] }, null, 1],
    [
      "a list of definitions",
      { type: "array", items: { $ref: "#/$defs/node" }, $defs: tree.$defs },
      [{ name: "a", next: { name: "b" } }],
      [{}],
    ],
    ["a list that holds itself", { type: "array", items: { $ref: "#" } }, [[], [[]]], [1]],
    [
      "what it refers to by its place",
      { type: "array", prefixItems: [{ type: "string" }, { $ref: "#/prefixItems/0" }] },
      ["a", "b"],
      ["a", 1],
    ],
  ])("is an object that holds %s", async (_what, schema, good, bad) => {
    const asked = outputSchema(schema as never);
    expect(asked.wrapped).toBe(true);
    expect(asked.schema).toMatchObject({ type: "object", required: ["answer"] });
    const issues = createJsonSchemaValidator(asked.schema);
    expect(await issues({ answer: good })).toEqual([]);
    if (bad !== undefined) expect(await issues({ answer: bad })).not.toEqual([]);
  });

  it("is taken out of that object, or as it is where there is none", () => {
    expect(unwrapOutput({ answer: [1] }, true)).toEqual([1]);
    expect(unwrapOutput([1], true)).toEqual([1]);
    expect(unwrapOutput({ answer: [1] }, false)).toEqual({ answer: [1] });
  });
});
